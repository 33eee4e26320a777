// Communication whose parts are all on one rank, as in a single-rank graph: copies, and a kernel that reduces.
//
//     all_reduce over three roles  ->  local_reduce into the first result, copies to the others
#pragma once

#include "act.hpp"

#include <vector>

namespace dovetail::cuda {

inline void add_local_acts(const access_table& accesses, const ir::step& step, int member, std::vector<act>& to, std::vector<int>& lists) {
    const ir::member& m = accesses.program.members[member];
    std::vector<seat> seats;
    for (const ir::participation& p : accesses.program.participations.subspan(step.first_participation, step.participations))
        if (p.member == member) {
            if (p.seat >= static_cast<int>(seats.size())) seats.resize(static_cast<std::size_t>(p.seat) + 1);
            seats[p.seat] = accesses.seat_of(p);
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
        a.elements = accesses.buffer_of(into).type.type;
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

}  // namespace dovetail::cuda
