// What a step does on one GPU, resolved when the executor is made: a flat list of launches, copies and NCCL calls, with the
// places of their pointers in one table. Running a step is walking its part of the list.
//
//     all_gather of `z` over 4 ranks        ->  all_gather
//     all_to_all of `z` over 4 ranks        ->  copy of the own piece, group_start, 3 sends, 3 receives, group_end
//     all_reduce of a folded graph          ->  local_reduce, copies to the other results
//
// Long: one case for each kind of operation, and nothing else.
#pragma once

#include "../engine.hpp"
#include "context.hpp"
#include "types.hpp"

#include <algorithm>

namespace dovetail::cuda {

enum class act_kind : unsigned char {
    call,
    copy,
    host_copy,
    zero,
    bring,
    group_start,
    group_end,
    send,
    recv,
    all_reduce,
    reduce,
    broadcast,
    all_gather,
    reduce_scatter,
    local_reduce
};

struct act {
    act_kind kind = act_kind::call;
    ncclDataType_t type = ncclUint8;
    ncclRedOp_t op = ncclSum;
    int from = -1;  // in the table of pointers; call: the first of them; -1: none
    int to = -1;
    int peer = -1;                      // rank of the world, or the root in `comm`
    int input = -1;                     // bring: which
    int first_source = 0, sources = 0;  // local_reduce: in `lists`
    std::int64_t from_offset = 0, to_offset = 0;
    std::int64_t bytes = 0;  // copy, zero, bring
    std::size_t count = 0;   // elements
    element elements = element::none;
    reduction how = reduction::none;
    ncclComm_t comm = nullptr;
    launch_function<stream> launch = nullptr;
    stream at = {};
};

class act_table {
public:
    std::vector<act> acts;
    std::vector<int> first;          // by step, and the end
    std::vector<int> lists;          // pointers of local reductions
    std::int64_t scratch_bytes = 0;  // for exchanges in place; its pointer stands behind those of the accesses
    std::int64_t largest = 0;        // message
    bool communicates = false;

    act_table(const image<stream>& from, const geometry& where, int rank, int role, context& on)
        : image_{from}, program_{from.program}, where_{where}, rank_{rank}, on_{on} {
        const ir::role_plan& r = from.plan.roles[role];
        divide(from.plan);
        for (const ir::step& s : from.plan.steps.part(r.first_step, r.steps)) {
            first.push_back(static_cast<int>(acts.size()));
            add(s);
        }
        first.push_back(static_cast<int>(acts.size()));
    }
    int scratch() const { return program_.accesses.size(); }

private:
    // One member's memory: places in the table of pointers.
    struct seat {
        int send = -1, recv = -1;
        std::int64_t send_bytes = 0, recv_bytes = 0;
    };

    // Communicators come in the order of the plan, on every rank, also on those that take no part.
    void divide(const dovetail::plan::plan& plan) {
        by_communicator_.resize(static_cast<std::size_t>(program_.communicators.size()), nullptr);
        std::vector<bool> seen(by_communicator_.size(), false);
        for (const int v : plan.order) {
            const ir::vertex& vertex = program_.vertices[v];
            for (int m = vertex.first_member; m < vertex.first_member + vertex.members; ++m) {
                const ir::member& member = program_.members[m];
                if (member.local || member.communicator < 0 || !needs_communicator(member.kind) || seen[member.communicator]) continue;
                seen[member.communicator] = true;
                division d;
                d.part.assign(static_cast<std::size_t>(where_.ranks()), -1);
                d.place.assign(static_cast<std::size_t>(where_.ranks()), 0);
                bool several = false;
                for (const ir::part& p : program_.parts.part(vertex.first_part, vertex.parts)) {
                    if (p.member != m) continue;
                    for (int lane = 0; lane < where_.lanes(p.role); ++lane) {
                        const int r = where_.rank_at(p.role, lane);
                        const std::vector<int> with = where_.partners(program_, vertex, m, r);
                        several = several || with.size() > 1;
                        d.part[r] = *std::min_element(with.begin(), with.end());
                        d.place[r] = static_cast<int>(std::find(with.begin(), with.end(), r) - with.begin());
                    }
                }
                if (several) by_communicator_[member.communicator] = on_.communicator(d);
            }
        }
    }
    static bool needs_communicator(op_kind k) {
        return k == op_kind::all_reduce || k == op_kind::reduce || k == op_kind::broadcast || k == op_kind::all_gather || k == op_kind::reduce_scatter;
    }

    void add(const ir::step& s) {
        std::vector<act> before, calls;
        std::int64_t scratch_used = 0;
        std::vector<int> done;
        for (const ir::part& p : program_.parts.part(s.first_part, s.parts)) {
            const ir::member& m = program_.members[p.member];
            if (is_communication(m.kind)) {
                if (m.local) {
                    if (std::find(done.begin(), done.end(), p.member) == done.end()) local(s, p.member, before);
                    done.push_back(p.member);
                } else
                    exchange(s, p, before, calls, scratch_used);
            } else
                before.push_back(compute(p, m));
        }
        scratch_bytes = std::max(scratch_bytes, scratch_used);
        for (act& a : before) acts.push_back(a);
        const bool grouped = calls.size() > 1 || (!calls.empty() && program_.vertices[s.vertex].members > 1);
        if (grouped) push(act_kind::group_start);
        for (act& a : calls) acts.push_back(a);
        if (grouped) push(act_kind::group_end);
        communicates = communicates || !calls.empty();
    }
    void push(act_kind k) {
        act a;
        a.kind = k;
        acts.push_back(a);
    }
    const ir::buffer& buffer_of(int access) const { return program_.buffers[program_.accesses[access].buffer]; }
    std::int64_t bytes_of(int access) const { return buffer_of(access).type.bytes(); }
    static bool on_host(const ir::buffer& b) { return b.where == ir::storage::host; }

    act compute(const ir::part& p, const ir::member& m) {
        act a;
        a.from = p.first_access;
        if (m.kind == op_kind::input) {
            a.kind = act_kind::bring;
            a.to = p.first_access;
            a.bytes = bytes_of(p.first_access);
            a.input = buffer_of(p.first_access).symbol;  // the engine turns it into the number of the input
            return a;
        }
        if (m.kind == op_kind::to_host || m.kind == op_kind::from_host) {
            a.kind = act_kind::copy;
            a.to = p.first_access + 1;
            a.bytes = bytes_of(a.to);
            return a;
        }
        a.launch = p.member < image_.launches.size() ? image_.launches[p.member] : nullptr;
        if (a.launch == nullptr) throw failure{"the image holds no launch function for it"};
        for (int i = p.first_access; i < p.first_access + p.accesses; ++i)
            if (buffer_of(i).where == ir::storage::workspace && !buffer_of(i).type.valid()) {
                a.to = i;
                a.at.workspace_bytes = buffer_of(i).bytes;
            }
        a.at.blas = on_.blas();
        return a;
    }
    seat seat_of(const ir::part& p) const {
        seat s;
        for (int i = p.first_access; i < p.first_access + p.accesses; ++i) {
            const access_mode mode = program_.accesses[i].mode;
            if (reads(mode) && s.send < 0) {
                s.send = i;
                s.send_bytes = bytes_of(i);
            }
            if (writes(mode) && s.recv < 0) {
                s.recv = i;
                s.recv_bytes = bytes_of(i);
            }
        }
        return s;
    }
    bool same_place(int a, int b) const {
        if (a < 0 || b < 0) return false;
        const auto root = [&](int access) {
            const int buffer = program_.accesses[access].buffer;
            return program_.buffers[buffer].alias >= 0 ? program_.buffers[buffer].alias : buffer;
        };
        return root(a) == root(b);
    }
    static act moved(act_kind k, int from, std::int64_t from_offset, int to, std::int64_t to_offset, std::int64_t bytes, int peer = -1,
                     ncclComm_t comm = nullptr) {
        act a;
        a.kind = k;
        a.from = from;
        a.from_offset = from_offset;
        a.to = to;
        a.to_offset = to_offset;
        a.bytes = bytes;
        a.count = static_cast<std::size_t>(bytes);
        a.peer = peer;
        a.comm = comm;
        return a;
    }

    // Communication with other ranks; with none, a copy.
    void exchange(const ir::step& step, const ir::part& p, std::vector<act>& before, std::vector<act>& calls, std::int64_t& scratch_used) {
        const ir::member& m = program_.members[p.member];
        seat s = seat_of(p);
        const std::vector<int> with = where_.partners(program_, program_.vertices[step.vertex], p.member, rank_);
        const int n = static_cast<int>(with.size());
        const int mine = static_cast<int>(std::find(with.begin(), with.end(), rank_) - with.begin());
        const int any = s.send >= 0 ? s.send : s.recv;
        if (any < 0) return;
        largest = std::max({largest, s.send_bytes, s.recv_bytes});
        const auto copy = [&](int from, std::int64_t from_offset, int to, std::int64_t to_offset, std::int64_t bytes) {
            if (bytes > 0 && from >= 0 && to >= 0 && !(same_place_or_equal(from, to) && from_offset == to_offset))
                before.push_back(moved(act_kind::copy, from, from_offset, to, to_offset, bytes));
        };
        const auto send = [&](int from, std::int64_t offset, std::int64_t bytes, int peer) {
            if (bytes > 0) calls.push_back(moved(act_kind::send, from, offset, -1, 0, bytes, peer, on_.all()));
        };
        const auto recv = [&](int to, std::int64_t offset, std::int64_t bytes, int peer) {
            if (bytes > 0) calls.push_back(moved(act_kind::recv, -1, 0, to, offset, bytes, peer, on_.all()));
        };
        // What is sent piece by piece while it is overwritten goes out from a copy.
        const auto aside = [&] {
            if (!same_place(s.send, s.recv) || s.send_bytes == 0) return std::int64_t{0};
            const std::int64_t at = scratch_used;
            before.push_back(moved(act_kind::copy, s.send, 0, scratch(), at, s.send_bytes));
            scratch_used += ir::aligned(s.send_bytes);
            s.send = scratch();
            return at;
        };
        if (m.kind == op_kind::transfer) {
            if (s.send >= 0)
                send(s.send, 0, s.send_bytes, with[1]);
            else
                recv(s.recv, 0, s.recv_bytes, with[0]);
            return;
        }
        if (m.kind == op_kind::shift) {
            const std::int64_t each = s.send_bytes;
            const auto at = [&](int i) { return m.open && (i < 0 || i >= n) ? -1 : ((i % n) + n) % n; };
            const int to = at(mine + m.offset), from = at(mine - m.offset);
            if (to == mine) return copy(s.send, 0, s.recv, 0, each);
            const std::int64_t offset = to >= 0 ? aside() : 0;
            if (to >= 0) send(s.send, offset, each, with[to]);
            if (from >= 0)
                recv(s.recv, 0, each, with[from]);
            else if (each > 0)
                before.push_back(moved(act_kind::zero, -1, 0, s.recv, 0, each));
            return;
        }
        if (n == 1) return copy(s.send, 0, s.recv, 0, s.recv_bytes);
        if (m.kind == op_kind::all_to_all) {
            const std::int64_t each = s.send_bytes / n, offset = aside();
            for (int i = 0; i < n; ++i) {
                if (i == mine) {
                    if (s.send != scratch()) copy(s.send, i * each, s.recv, i * each, each);
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
            // One piece for each seat that receives: over roles, the root, which stands last then, need not be one.
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
        act a;
        a.kind = m.kind == op_kind::all_reduce   ? act_kind::all_reduce
                 : m.kind == op_kind::reduce     ? act_kind::reduce
                 : m.kind == op_kind::broadcast  ? act_kind::broadcast
                 : m.kind == op_kind::all_gather ? act_kind::all_gather
                                                 : act_kind::reduce_scatter;
        const element type = buffer_of(any).type.type;
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
    bool same_place_or_equal(int a, int b) const { return a == b || (a < scratch() && b < scratch() && same_place(a, b)); }

    // All parts are on this rank: copies, and a kernel that adds.
    void local(const ir::step& step, int member, std::vector<act>& to) {
        const ir::member& m = program_.members[member];
        std::vector<seat> seats;
        for (const ir::part& p : program_.parts.part(step.first_part, step.parts))
            if (p.member == member) {
                if (p.seat >= static_cast<int>(seats.size())) seats.resize(static_cast<std::size_t>(p.seat) + 1);
                seats[p.seat] = seat_of(p);
            }
        const int n = static_cast<int>(seats.size());
        const auto copy = [&](int from, std::int64_t from_offset, int into, std::int64_t to_offset, std::int64_t bytes) {
            if (bytes > 0 && from >= 0 && into >= 0 && from != into) to.push_back(moved(act_kind::copy, from, from_offset, into, to_offset, bytes));
        };
        const auto reduce = [&](std::int64_t offset, int into, std::int64_t bytes) {
            if (bytes == 0) return;
            act a = moved(act_kind::local_reduce, -1, offset, into, 0, bytes);
            a.first_source = static_cast<int>(lists.size());
            for (const seat& s : seats)
                if (s.send >= 0) lists.push_back(s.send);
            a.sources = static_cast<int>(lists.size()) - a.first_source;
            a.elements = buffer_of(into).type.type;
            a.count = static_cast<std::size_t>(bytes / dovetail::bytes_of(a.elements));
            a.how = m.reduce;
            to.push_back(a);
        };
        const seat root = m.root >= 0 && m.root < n ? seats[m.root] : seat{};
        switch (m.kind) {
            case op_kind::transfer: return copy(seats[0].send, 0, seats[1].recv, 0, seats[0].send_bytes);
            case op_kind::broadcast:
                for (const seat& s : seats) copy(root.send, 0, s.recv, 0, root.send_bytes);
                return;
            case op_kind::all_reduce:
            case op_kind::reduce: {
                int made = -1;
                for (const seat& s : seats) {
                    if (s.recv < 0 || (m.kind == op_kind::reduce && s.recv != root.recv)) continue;
                    if (made < 0)
                        reduce(0, made = s.recv, s.recv_bytes);
                    else
                        copy(made, 0, s.recv, 0, s.recv_bytes);
                }
                return;
            }
            case op_kind::all_gather:
            case op_kind::gather:
                for (const seat& s : seats) {
                    if (m.kind == op_kind::gather && s.recv != root.recv) continue;
                    for (int i = 0; i < n; ++i) copy(seats[i].send, 0, s.recv, i * seats[i].send_bytes, seats[i].send_bytes);
                }
                return;
            case op_kind::reduce_scatter:
                for (int i = 0; i < n; ++i) reduce(i * seats[i].recv_bytes, seats[i].recv, seats[i].recv_bytes);
                return;
            case op_kind::scatter: {
                std::int64_t next = 0;
                for (const seat& s : seats)
                    if (s.recv >= 0) copy(root.send, next++ * s.recv_bytes, s.recv, 0, s.recv_bytes);
                return;
            }
            case op_kind::all_to_all:
                for (int i = 0; i < n; ++i)
                    for (int j = 0; j < n; ++j)
                        copy(seats[j].send, i * (seats[j].send_bytes / n), seats[i].recv, j * (seats[j].send_bytes / n), seats[j].send_bytes / n);
                return;
            default: return;
        }
    }

    const image<stream>& image_;
    const ir::program& program_;
    const geometry& where_;
    const int rank_;
    context& on_;
    std::vector<ncclComm_t> by_communicator_;
};

}  // namespace dovetail::cuda
