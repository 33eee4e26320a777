// Communication whose parts are all on one rank, as in a single-rank graph: copies, and a kernel that reduces.
//
//     all_reduce over three roles  ->  local_reduce into the first result, copies to the others
#pragma once

#include "command.hpp"

#include <vector>

namespace dovetail::cuda {

inline void add_local_commands(const access_table& accesses, const ir::step& step, int member, std::vector<command>& to, std::vector<int>& lists) {
    const ir::member& m = accesses.program.members[member];
    std::vector<participant> participants;
    for (const ir::participation& p : accesses.program.participations.subspan(step.first_participation, step.participations))
        if (p.member == member) {
            if (p.group_index >= static_cast<int>(participants.size())) participants.resize(static_cast<std::size_t>(p.group_index) + 1);
            participants[p.group_index] = accesses.participant_of(p);
        }
    const int n = static_cast<int>(participants.size());
    const auto copy = [&](int from, std::int64_t from_offset, int into, std::int64_t to_offset, std::int64_t bytes) {
        if (bytes > 0 && from >= 0 && into >= 0 && from != into) to.push_back(transfer_command(command_kind::copy, from, from_offset, into, to_offset, bytes));
    };
    const auto reduce = [&](std::int64_t offset, int into, std::int64_t bytes) {
        if (bytes == 0) return;
        command a = transfer_command(command_kind::local_reduce, -1, offset, into, 0, bytes);
        a.first_source = static_cast<int>(lists.size());
        for (const participant& s : participants)
            if (s.send >= 0) lists.push_back(s.send);
        a.sources = static_cast<int>(lists.size()) - a.first_source;
        a.elements = accesses.buffer_of(into).type.type;
        a.count = static_cast<std::size_t>(bytes / dovetail::bytes_of(a.elements));
        a.how = m.reduce;
        to.push_back(a);
    };
    const participant root = m.root >= 0 && m.root < n ? participants[m.root] : participant{};
    switch (m.kind) {
        case op_kind::transfer: return copy(participants[0].send, 0, participants[1].recv, 0, participants[0].send_bytes);
        case op_kind::broadcast:
            for (const participant& s : participants) copy(root.send, 0, s.recv, 0, root.send_bytes);
            return;
        case op_kind::all_reduce:
        case op_kind::reduce: {
            int made = -1;
            for (const participant& s : participants) {
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
            for (const participant& s : participants) {
                if (m.kind == op_kind::gather && s.recv != root.recv) continue;
                for (int i = 0; i < n; ++i) copy(participants[i].send, 0, s.recv, i * participants[i].send_bytes, participants[i].send_bytes);
            }
            return;
        case op_kind::reduce_scatter:
            for (int i = 0; i < n; ++i) reduce(i * participants[i].recv_bytes, participants[i].recv, participants[i].recv_bytes);
            return;
        case op_kind::scatter: {
            std::int64_t next = 0;
            for (const participant& s : participants)
                if (s.recv >= 0) copy(root.send, next++ * s.recv_bytes, s.recv, 0, s.recv_bytes);
            return;
        }
        case op_kind::all_to_all:
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j)
                    copy(participants[j].send, i * (participants[j].send_bytes / n), participants[i].recv, j * (participants[j].send_bytes / n),
                         participants[j].send_bytes / n);
            return;
        default: return;
    }
}

}  // namespace dovetail::cuda
