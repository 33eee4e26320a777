// A program under construction: arrays with room for everything, filled from the front. The members, participations and accesses of a task
// are written before the task, which records where they begin. The arrays belong to the caller.
#pragma once

#include "../../ir/program.hpp"
#include "../../ir/table.hpp"
#include "cut.hpp"

namespace dovetail::pass::detail {

// The stream of a task, unless one rank plays all roles.
constexpr stream_kind stream_of(op_kind k, transport moved_by) {
    if (moved_by == transport::peer_copy) return stream_kind::copy;
    if (k == op_kind::to_host || k == op_kind::from_host) return stream_kind::copy;
    return is_communication(k) || k == op_kind::local_reduce ? stream_kind::communication : stream_kind::compute;
}

// `Table`: a program that owns its arrays, all of them as long as they can become.
template <class Table>
struct program_builder {
    constexpr explicit program_builder(Table& to)
        : buffers{to.buffers.first},
          accesses{to.accesses.first},
          participations{to.participations.first},
          members{to.members.first},
          tasks{to.tasks.first},
          leaves{to.leaves.first},
          communicators_{to.communicators.first},
          communicator_roles_{to.communicator_roles.first} {}

    decltype(Table::buffers.first)& buffers;
    decltype(Table::accesses.first)& accesses;
    decltype(Table::participations.first)& participations;
    decltype(Table::members.first)& members;
    decltype(Table::tasks.first)& tasks;
    decltype(Table::leaves.first)& leaves;
    vec<touched_block> blocks;  // the accesses that are not of whole buffers
    int buffer_count = 0, access_count = 0, participation_count = 0, member_count = 0, task_count = 0;

    // All of a buffer.
    constexpr void touch(int buffer, access_mode mode) { accesses[access_count++] = {buffer, mode, buffer, 1}; }
    // What one role does, with the accesses from `first_access` on, of which the last ones are not passed to it.
    constexpr void participation(int role, int member, int group_index, int first_access, int awaited = 0) {
        participations[participation_count++] = {role, member, group_index, first_access, access_count - first_access - awaited, awaited};
    }
    constexpr void task(int first_participation, int first_member, stream_kind stream, op_kind kind, transport moved_by = transport::nccl) {
        tasks[task_count++] = {first_participation,
                               participation_count - first_participation,
                               first_member,
                               member_count - first_member,
                               stream,
                               kind,
                               moved_by};
    }
    constexpr int communicator(unsigned axes, span<const int> roles) {
        for (int c = 0; c < communicator_count_; ++c) {
            const ir::communicator& k = communicators_[c];
            bool same = k.axes == axes && k.roles == roles.count;
            for (int i = 0; same && i < roles.count; ++i) same = communicator_roles_[k.first_role + i] == roles.first[i];
            if (same) return c;
        }
        communicators_[communicator_count_] = {axes, communicator_role_count_, roles.count};
        for (int i = 0; i < roles.count; ++i) communicator_roles_[communicator_role_count_++] = roles.first[i];
        return communicator_count_++;
    }

    // The table that it was made for gets its sizes.
    constexpr void finish(Table& to, int roles) const {
        to.buffers.cut(buffer_count);
        to.accesses.cut(access_count);
        to.participations.cut(participation_count);
        to.members.cut(member_count);
        to.tasks.cut(task_count);
        to.communicators.cut(communicator_count_);
        to.communicator_roles.cut(communicator_role_count_);
        to.roles = roles;
        if (!blocks.empty()) return cut(blocks, to);
        to.leaves.resize(buffer_count);
        for (int b = 0; b < buffer_count; ++b) leaves[b].bytes = buffers[b].bytes;
    }

private:
    decltype(Table::communicators.first)& communicators_;
    decltype(Table::communicator_roles.first)& communicator_roles_;
    int communicator_count_ = 0, communicator_role_count_ = 0;
};

}  // namespace dovetail::pass::detail
