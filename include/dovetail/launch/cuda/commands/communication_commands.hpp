// The commands of one communication step: copies before it, NCCL calls, and peer copies.
//
//     all_gather of `z` over 4 ranks  ->  ncclAllGather
//     all_to_all of `z` over 4 ranks  ->  copy of the own block; 3 sends, 3 receives
//     a channel by peer copy          ->  put on the sender, make_room and wait on the receiver
//     all_gather by peer copies       ->  copy of the own block on a side stream, 3 make_room, 3 put, 3 wait, join of the side stream;
//                                         or, where the own block is in place, without the copy
#pragma once

#include "../../executable/geometry.hpp"
#include "../peer_copy/peer_copies.hpp"
#include "command.hpp"

#include <algorithm>
#include <map>

namespace dovetail::cuda {

class communication_commands {
public:
    std::vector<command> before, calls, copies;
    std::int64_t scratch_bytes = 0;  // scratch memory for arguments that would be overwritten while they are sent
    std::int64_t largest = 0;        // the largest message of NCCL

    // Of what arrives for a local_reduce: which block is the rank's own, and where that stays in the argument.
    struct own_block {
        int member = -1;
        std::int64_t offset = 0;
    };
    using own_blocks = std::map<int, own_block>;  // by the buffer of what arrives

    communication_commands(const access_table& accesses, const geometry& where, const peer_copies& copies, int rank, ncclComm_t all,
                           const std::vector<ncclComm_t>& by_communicator, own_blocks& staying)
        : accesses_{accesses},
          where_{where},
          peer_copies_{copies},
          rank_{rank},
          all_{all},
          by_communicator_{by_communicator},
          staying_{staying} {}

    void add(const ir::step& step, const ir::participation& p) {
        const ir::member& m = accesses_.program.members[p.member];
        const participant s = accesses_.participant_of(p);
        if (s.send < 0 && s.recv < 0) return;
        const std::vector<int> with = where_.partners(accesses_.program, accesses_.program.tasks[step.task], p.member, rank_);
        const int mine = index_among(with, rank_);
        if (const int flags = peer_copies_.first_flag(step.task); flags >= 0) return add_peer_copies(step, m, s, flags, with, mine);
        largest = std::max({largest, s.send_bytes, s.recv_bytes});
        if (!collective::by_one_call(m.kind))
            add_messages(m, s, with, mine);
        else if (with.size() == 1)
            copy({s.send}, {s.recv}, s.recv_bytes);
        else
            add_call(m, s);
    }

private:
    struct place {
        int access;
        std::int64_t offset = 0;
    };
    // Sends and receives: a block to each member that this rank reaches, and one from each member that reaches this rank.
    void add_messages(const ir::member& m, const participant& s, const std::vector<int>& with, int mine) {
        const int n = static_cast<int>(with.size());
        const blocks b = blocks_of(m, s, n, mine);
        std::vector<int> to, from;  // members
        for (int i = 0; i < n; ++i) {
            if (s.send >= 0 && collective::reaches(m, mine, i, n)) to.push_back(i);
            if (s.recv >= 0 && collective::reaches(m, i, mine, n)) from.push_back(i);
        }
        const bool sends = std::any_of(to.begin(), to.end(), [&](int i) { return i != mine; });
        const place source = sends ? set_aside(s) : place{s.send};
        for (const int i : to)
            if (i != mine) send(b.given_to(i, source), b.bytes, with[static_cast<std::size_t>(i)]);
        for (const int i : from)
            if (i != mine)
                recv(b.got_from(i, s.recv), b.bytes, with[static_cast<std::size_t>(i)]);
            else
                copy(b.given_to(i, {s.send}), b.got_from(i, s.recv), b.bytes);
        if (from.empty() && s.recv >= 0 && collective::receives_result(m, mine)) zero(s.recv, b.bytes);
    }
    // The size of the block between two members, and its places in the argument and in the result, or among several of them.
    struct blocks {
        std::int64_t bytes;
        bool cuts, joins, many_arguments, many_results;
        int own = -1;  // the block of the argument that goes to all

        place given_to(int member, place argument) const { return at(argument, own >= 0 ? own : member, cuts || own >= 0, many_arguments); }
        place got_from(int member, int result) const { return at({result}, member, joins, many_results); }

    private:
        place at(place first, int member, bool by_member, bool many) const {
            if (many) return {first.access + member, first.offset};
            return {first.access, first.offset + (by_member ? member * bytes : 0)};
        }
    };
    static blocks blocks_of(const ir::member& m, const participant& s, int members, int mine) {
        const collective::row& row = collective::of(m.kind);
        if (ir::has_own_block_in_place(m)) return {s.send_bytes / members, false, true, false, false, mine};
        const bool cuts = row.sends == collective::pieces::one_per_member, joins = row.receives == collective::pieces::one_per_member;
        const int receivers = s.recv >= 0 ? members : members - 1;  // over roles, a root that receives nothing is the last member
        return {s.send >= 0 ? s.send_bytes / (cuts ? receivers : 1) : s.recv_bytes / (joins ? members : 1), cuts, joins, s.arguments > 1,
                s.results > 1};
    }

    // One NCCL call, the same on all members.
    void add_call(const ir::member& m, const participant& s) {
        command a;
        a.kind = command_kind::collective;
        a.nccl = collective::of(m.kind).call;
        a.from = s.send >= 0 ? s.send : s.recv;  // a receiver of a broadcast sends nothing
        a.to = s.recv >= 0 ? s.recv : s.send;    // NCCL ignores it except on the root
        const element type = accesses_.buffer_of(a.from).type.type;
        a.type = nccl_type(type);
        a.op = nccl_reduction(m.reduce);
        a.comm = by_communicator_[m.communicator];
        a.peer = m.root;
        // ncclReduceScatter takes the element count of a block
        const bool counts_result = collective::of(m.kind).sends == collective::pieces::one_per_member;
        const std::int64_t bytes = counts_result || s.send < 0 ? s.recv_bytes : s.send_bytes;
        a.count = static_cast<std::size_t>(bytes / dovetail::bytes_of(type));
        if (a.count > 0) calls.push_back(a);
    }

    // An argument that would be overwritten while it is sent is copied to scratch memory first.
    place set_aside(const participant& s) {
        if (!accesses_.same_place(s.send, s.recv) || s.send_bytes == 0) return {s.send};
        const place at{accesses_.scratch(), scratch_bytes};
        before.push_back(transfer_command(command_kind::copy, s.send, 0, at.access, at.offset, s.send_bytes));
        scratch_bytes += ir::aligned(s.send_bytes);
        return at;
    }
    bool is_same(place from, place to) const {
        return (from.access == to.access || accesses_.same_place(from.access, to.access)) && from.offset == to.offset;
    }
    void copy(place from, place to, std::int64_t bytes) {
        if (bytes > 0 && from.access >= 0 && to.access >= 0 && !is_same(from, to))
            before.push_back(transfer_command(command_kind::copy, from.access, from.offset, to.access, to.offset, bytes));
    }
    void zero(int to, std::int64_t bytes) {
        if (bytes > 0) before.push_back(transfer_command(command_kind::zero, -1, 0, to, 0, bytes));
    }
    void send(place from, std::int64_t bytes, int peer) {
        if (bytes > 0) calls.push_back(transfer_command(command_kind::send, from.access, from.offset, -1, 0, bytes, peer, all_));
    }
    void recv(place to, std::int64_t bytes, int peer) {
        if (bytes > 0) calls.push_back(transfer_command(command_kind::recv, -1, 0, to.access, to.offset, bytes, peer, all_));
    }
    // The members from which one receives, and those to which it sends, in the order of their distance.
    struct put_partners {
        std::vector<int> from, to;
    };
    static put_partners put_partners_of(const ir::member& m, const participant& s, int mine, int n) {
        put_partners p;
        for (int k = 1; k < n; ++k) {
            const int before = (mine + n - k) % n, behind = (mine + k) % n;
            if (s.recv >= 0 && collective::reaches(m, before, mine, n)) p.from.push_back(before);
            if (s.send >= 0 && collective::reaches(m, mine, behind, n)) p.to.push_back(behind);
        }
        return p;
    }
    // Each member first announces to those that reach it that there is room, and puts its blocks in the order of the members behind it, so
    // that no two put into the same one at a time. The copy of its own block is on a side stream meanwhile: it is a kernel, which on a GPU
    // that computes waits for room.
    void add_peer_copies(const ir::step& step, const ir::member& m, const participant& s, int first_flag, const std::vector<int>& with,
                         int mine) {
        const int n = static_cast<int>(with.size());
        const blocks b = blocks_of(m, s, n, mine);
        if (b.bytes == 0) return;
        const auto rank_of = [&](int member) { return with[static_cast<std::size_t>(member)]; };
        const auto room_at = [&](int member) { return first_flag + member; };
        const auto data_from = [&](int member) { return first_flag + n + member; };
        const put_partners partners = put_partners_of(m, s, mine, n);
        const bool stays = m.op != nullptr && m.op->own_block_stays;
        const bool has_own_block = s.send >= 0 && s.recv >= 0 && collective::reaches(m, mine, mine, n);
        const bool copied = has_own_block && !stays && copy_own_block(s, b, mine, step.stream);
        for (const int from : partners.from) add_flags(command_kind::make_room, rank_of(from), -1, room_at(mine));
        for (const int to : partners.to) {
            command& put = add_flags(command_kind::put, rank_of(to), room_at(to), data_from(mine));
            const place given = b.given_to(to, {s.send}), got = b.got_from(mine, receivers_access(step, to));
            put.from = given.access;
            put.from_offset = given.offset;
            put.to_offset = got.offset;
            put.bytes = b.bytes;
            put.target = got.access;
        }
        if (stays)
            staying_[accesses_.program.accesses[s.recv].buffer] = {mine, b.given_to(mine, {s.send}).offset};
        else if (!has_own_block && partners.from.empty() && s.recv >= 0 && collective::receives_result(m, mine))
            zero(s.recv, b.bytes);
        for (const int from : partners.from) add_flags(command_kind::wait, rank_of(from), data_from(from), -1);
        if (!copied) return;
        command& join = copies.emplace_back();
        join.kind = command_kind::join_side_stream;
        join.plan_stream = step.stream;
    }
    // False if it is where it is to be.
    bool copy_own_block(const participant& s, const blocks& b, int mine, int stream) {
        const place given = b.given_to(mine, {s.send}), got = b.got_from(mine, s.recv);
        if (is_same(given, got)) return false;
        command copy = transfer_command(command_kind::copy_on_side_stream, given.access, given.offset, got.access, got.offset, b.bytes);
        copy.plan_stream = stream;
        copies.push_back(copy);
        return true;
    }
    command& add_flags(command_kind k, int peer, int awaited, int set) {
        command& a = copies.emplace_back();
        a.kind = k;
        a.peer = peer;
        a.awaited_flag = awaited;
        a.set_flag = set;
        return a;
    }
    // The access through which a member of the communication receives: along axes, that of the role's only participation.
    int receivers_access(const ir::step& step, int member) const {
        const ir::program& p = accesses_.program;
        const ir::task& v = p.tasks[step.task];
        for (const ir::participation& x : p.participations.subspan(v.first_participation, v.participations))
            if (v.participations == 1 || x.group_index == member) return accesses_.participant_of(x).recv;
        return -1;
    }
    const access_table& accesses_;
    const geometry& where_;
    const peer_copies& peer_copies_;
    const int rank_;
    const ncclComm_t all_;
    const std::vector<ncclComm_t>& by_communicator_;
    own_blocks& staying_;
};

}  // namespace dovetail::cuda
