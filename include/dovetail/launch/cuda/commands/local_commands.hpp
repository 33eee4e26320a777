// Commands of a communication whose participants are all on one rank, as in a single-rank graph: copies, and a kernel that reduces.
//
//     all_reduce over three roles  ->  local_reduce into the first result, copies to the others
#pragma once

#include "command.hpp"

#include <utility>
#include <vector>

namespace dovetail::cuda {

// The commands of one communication, in the order of its receivers.
class local_command_builder {
public:
    local_command_builder(const access_table& accesses, const ir::member& m, std::vector<participant> participants,
                          std::vector<command>& to, std::vector<int>& lists)
        : accesses_{accesses}, m_{m}, participants_{std::move(participants)}, to_{to}, lists_{lists} {
        for (int i = 0; i < members(); ++i)
            if (at(i).recv >= 0 && collective::receives_result(m, i)) receivers_.push_back(i);
    }
    void add() {
        for (int k = 0; k < static_cast<int>(receivers_.size()); ++k)
            if (is_reducing(m_.kind))
                reduce(k);
            else
                gather(k);
    }

private:
    int members() const { return static_cast<int>(participants_.size()); }
    const participant& at(int member) const { return participants_[static_cast<std::size_t>(member)]; }
    bool cuts() const { return collective::of(m_.kind).sends == collective::pieces::one_per_member; }
    bool joins() const { return collective::of(m_.kind).receives == collective::pieces::one_per_member; }

    // Copies to receiver k the block of each member that reaches it.
    void gather(int k) {
        const int to = receivers_[static_cast<std::size_t>(k)];
        for (int i = 0; i < members(); ++i) {
            if (at(i).send < 0 || !collective::reaches(m_, i, to, members())) continue;
            const std::int64_t block = at(i).send_bytes / (cuts() ? static_cast<int>(receivers_.size()) : 1);
            copy(at(i).send, cuts() ? k * block : 0, at(to).recv, joins() ? i * block : 0, block);
        }
    }
    // Reduces all members' blocks for receiver k; a reduction of whole arguments is the same for all receivers and is computed once.
    void reduce(int k) {
        const participant& receiver = at(receivers_[static_cast<std::size_t>(k)]);
        const std::int64_t block = receiver.recv_bytes;
        if (block == 0) return;
        if (k > 0 && !cuts()) return copy(at(receivers_[0]).recv, 0, receiver.recv, 0, block);
        command a = transfer_command(command_kind::local_reduce, -1, k * block, receiver.recv, 0, block);
        a.first_source = static_cast<int>(lists_.size());
        for (const participant& s : participants_)
            if (s.send >= 0) lists_.push_back(s.send);
        a.sources = static_cast<int>(lists_.size()) - a.first_source;
        a.elements = accesses_.buffer_of(receiver.recv).type.type;
        a.count = static_cast<std::size_t>(block / dovetail::bytes_of(a.elements));
        a.how = m_.reduce;
        to_.push_back(a);
    }
    void copy(int from, std::int64_t from_offset, int into, std::int64_t to_offset, std::int64_t bytes) {
        if (bytes > 0 && from != into) to_.push_back(transfer_command(command_kind::copy, from, from_offset, into, to_offset, bytes));
    }

    const access_table& accesses_;
    const ir::member& m_;
    std::vector<participant> participants_;
    std::vector<command>& to_;
    std::vector<int>& lists_;
    std::vector<int> receivers_;
};

inline void add_local_commands(const access_table& accesses, const ir::step& step, int member, std::vector<command>& to,
                               std::vector<int>& lists) {
    std::vector<participant> participants;
    for (const ir::participation& p : accesses.program.participations.subspan(step.first_participation, step.participations))
        if (p.member == member) {
            if (p.group_index >= static_cast<int>(participants.size())) participants.resize(static_cast<std::size_t>(p.group_index) + 1);
            participants[static_cast<std::size_t>(p.group_index)] = accesses.participant_of(p);
        }
    local_command_builder{accesses, accesses.program.members[member], std::move(participants), to, lists}.add();
}

}  // namespace dovetail::cuda
