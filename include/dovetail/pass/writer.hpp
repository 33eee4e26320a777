// A program while it is written: arrays with room for everything, filled from the front, so that whoever writes a vertex
// writes its members, parts and accesses first and says where they began. Whose arrays these are, it does not know.
#pragma once

#include "../ir/program.hpp"
#include "../ir/table.hpp"

namespace dovetail::pass::detail {

struct program_writer {
    // `Table`: a program that owns its arrays, all of them as long as they can become.
    template <class Table>
    constexpr explicit program_writer(Table& to)
        : buffers{to.buffers.begin()},
          accesses{to.accesses.begin()},
          parts{to.parts.begin()},
          members{to.members.begin()},
          vertices{to.vertices.begin()},
          communicators_{to.communicators.begin()},
          communicator_roles_{to.communicator_roles.begin()} {}

    ir::buffer* const buffers;
    ir::access* const accesses;
    ir::part* const parts;
    ir::member* const members;
    ir::vertex* const vertices;
    int buffer_count = 0, access_count = 0, part_count = 0, member_count = 0, vertex_count = 0;
    int commons = 0;

    constexpr void touch(int buffer, access_mode mode) { accesses[access_count++] = {buffer, mode}; }
    // What one role does, with the accesses from `first_access` on.
    constexpr void part(int role, int member, int seat, int first_access) {
        parts[part_count++] = {role, member, seat, first_access, access_count - first_access};
    }
    constexpr void vertex(int first_part, int first_member, lane_kind lane, op_kind kind) {
        vertices[vertex_count++] = {first_part, part_count - first_part, first_member, member_count - first_member, lane, kind};
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
    template <class Table>
    constexpr void finish(Table& to, int roles) const {
        to.buffers.cut(buffer_count);
        to.accesses.cut(access_count);
        to.parts.cut(part_count);
        to.members.cut(member_count);
        to.vertices.cut(vertex_count);
        to.communicators.cut(communicator_count_);
        to.communicator_roles.cut(communicator_role_count_);
        to.roles = roles;
        to.commons = commons;
    }

private:
    ir::communicator* const communicators_;
    int* const communicator_roles_;
    int communicator_count_ = 0, communicator_role_count_ = 0;
};

}  // namespace dovetail::pass::detail
