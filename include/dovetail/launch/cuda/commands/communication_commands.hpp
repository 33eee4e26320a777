// Communication of one step with other ranks, as commands: what is copied before, the NCCL calls, and peer copies.
//
//     all_gather of `z` over 4 ranks  ->  all_gather
//     all_to_all of `z` over 4 ranks  ->  copy of the own piece; 3 sends, 3 receives
//     a channel by peer copy          ->  put on the sender, wait on the receiver
#pragma once

#include "../../geometry.hpp"
#include "../peer_copy/peer_copies.hpp"
#include "command.hpp"

#include <algorithm>

namespace dovetail::cuda {

class communication_commands {
public:
    std::vector<command> before, calls, copies;
    std::int64_t scratch_bytes = 0;  // where what is sent lies while it is overwritten
    std::int64_t largest = 0;        // message

    communication_commands(const access_table& accesses, const geometry& where, const peer_copies& copies, int rank, ncclComm_t all,
                           const std::vector<ncclComm_t>& by_communicator)
        : accesses_{accesses}, where_{where}, peer_copies_{copies}, rank_{rank}, all_{all}, by_communicator_{by_communicator} {}

    // With nobody else to meet, a copy.
    void add(const ir::step& step, const ir::participation& p) {
        const ir::member& m = accesses_.program.members[p.member];
        participant s = accesses_.participant_of(p);
        const std::vector<int> with = where_.partners(accesses_.program, accesses_.program.tasks[step.task], p.member, rank_);
        const int n = static_cast<int>(with.size());
        const int mine = static_cast<int>(std::find(with.begin(), with.end(), rank_) - with.begin());
        const int any = s.send >= 0 ? s.send : s.recv;
        if (any < 0) return;
        largest = std::max({largest, s.send_bytes, s.recv_bytes});
        const auto copy = [&](int from, std::int64_t from_offset, int to, std::int64_t to_offset, std::int64_t bytes) {
            if (bytes > 0 && from >= 0 && to >= 0 && !(same_place_or_equal(from, to) && from_offset == to_offset))
                before.push_back(transfer_command(command_kind::copy, from, from_offset, to, to_offset, bytes));
        };
        const auto send = [&](int from, std::int64_t offset, std::int64_t bytes, int peer) {
            if (bytes > 0) calls.push_back(transfer_command(command_kind::send, from, offset, -1, 0, bytes, peer, all_));
        };
        const auto recv = [&](int to, std::int64_t offset, std::int64_t bytes, int peer) {
            if (bytes > 0) calls.push_back(transfer_command(command_kind::recv, -1, 0, to, offset, bytes, peer, all_));
        };
        // What is sent piece by piece while it is overwritten goes out from a copy.
        const auto stage = [&] {
            if (!accesses_.same_place(s.send, s.recv) || s.send_bytes == 0) return std::int64_t{0};
            const std::int64_t at = scratch_bytes;
            before.push_back(transfer_command(command_kind::copy, s.send, 0, accesses_.scratch(), at, s.send_bytes));
            scratch_bytes += ir::aligned(s.send_bytes);
            s.send = accesses_.scratch();
            return at;
        };
        if (const int number = peer_copies_.number(step.task); number >= 0) return add_peer_copy(step, s, number, with);
        if (m.kind == op_kind::transfer) {
            if (s.send >= 0)
                send(s.send, 0, s.send_bytes, with[1]);
            else
                recv(s.recv, 0, s.recv_bytes, with[0]);
            return;
        }
        if (m.kind == op_kind::shift) {
            const std::int64_t each = s.send_bytes;
            const auto at = [&](int i) { return m.zero_edge && (i < 0 || i >= n) ? -1 : ((i % n) + n) % n; };
            const int to = at(mine + m.offset), from = at(mine - m.offset);
            if (to == mine) return copy(s.send, 0, s.recv, 0, each);
            const std::int64_t offset = to >= 0 ? stage() : 0;
            if (to >= 0) send(s.send, offset, each, with[to]);
            if (from >= 0)
                recv(s.recv, 0, each, with[from]);
            else if (each > 0)
                before.push_back(transfer_command(command_kind::zero, -1, 0, s.recv, 0, each));
            return;
        }
        if (n == 1) return copy(s.send, 0, s.recv, 0, s.recv_bytes);
        if (m.kind == op_kind::all_to_all) {
            const std::int64_t each = s.send_bytes / n, offset = stage();
            for (int i = 0; i < n; ++i) {
                if (i == mine) {
                    if (s.send != accesses_.scratch()) copy(s.send, i * each, s.recv, i * each, each);
                    continue;
                }
                send(s.send, offset + i * each, each, with[i]);
                if (s.recv >= 0) recv(s.recv, i * each, each, with[i]);
            }
            return;
        }
        if (m.kind == op_kind::gather) {
            if (mine != m.root) return send(s.send, 0, s.send_bytes, with[m.root]);
            for (int i = 0; i < n; ++i)
                if (i == mine)
                    copy(s.send, 0, s.recv, i * s.send_bytes, s.send_bytes);
                else
                    recv(s.recv, i * s.send_bytes, s.send_bytes, with[i]);
            return;
        }
        if (m.kind == op_kind::scatter) {
            // One piece for each group index that receives: over roles, the root, which stands last then, need not be one.
            if (mine != m.root) return recv(s.recv, 0, s.recv_bytes, with[m.root]);
            const int pieces = s.recv >= 0 ? n : n - 1;
            const std::int64_t each = s.send_bytes / pieces;
            for (int i = 0; i < pieces; ++i)
                if (i == mine)
                    copy(s.send, i * each, s.recv, 0, each);
                else
                    send(s.send, i * each, each, with[i]);
            return;
        }
        command a;
        a.kind = m.kind == op_kind::all_reduce   ? command_kind::all_reduce
                 : m.kind == op_kind::reduce     ? command_kind::reduce
                 : m.kind == op_kind::broadcast  ? command_kind::broadcast
                 : m.kind == op_kind::all_gather ? command_kind::all_gather
                                                 : command_kind::reduce_scatter;
        const element type = accesses_.buffer_of(any).type.type;
        a.type = nccl_type(type);
        a.op = nccl_reduction(m.reduce);
        a.comm = by_communicator_[m.communicator];
        a.peer = m.root;
        a.from = s.send >= 0 ? s.send : s.recv;  // a receiver of a broadcast has nothing to send
        a.to = s.recv >= 0 ? s.recv : s.send;    // NCCL leaves it alone off the root
        const std::int64_t bytes = m.kind == op_kind::reduce_scatter ? s.recv_bytes : s.send >= 0 ? s.send_bytes : s.recv_bytes;
        a.count = static_cast<std::size_t>(bytes / dovetail::bytes_of(type));
        if (a.count > 0) calls.push_back(a);
    }

private:
    bool same_place_or_equal(int a, int b) const { return a == b || (a < accesses_.scratch() && b < accesses_.scratch() && accesses_.same_place(a, b)); }

    void add_peer_copy(const ir::step& step, const participant& s, int number, const std::vector<int>& with) {
        const bool sends = s.send >= 0;
        command a =
            transfer_command(sends ? command_kind::put : command_kind::wait, s.send, 0, -1, 0, sends ? s.send_bytes : s.recv_bytes, with[sends ? 1 : 0]);
        a.copy = number;
        const ir::task& v = accesses_.program.tasks[step.task];
        for (const ir::participation& p : accesses_.program.participations.subspan(v.first_participation, v.participations))
            if (p.group_index == 1) a.target = accesses_.program.accesses[p.first_access].buffer;
        copies.push_back(a);
    }
    const access_table& accesses_;
    const geometry& where_;
    const peer_copies& peer_copies_;
    const int rank_;
    const ncclComm_t all_;
    const std::vector<ncclComm_t>& by_communicator_;
};

}  // namespace dovetail::cuda
