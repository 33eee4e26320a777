// A program while it is written: arrays with room for everything, filled from the front, so that whoever writes a vertex
// writes its members, parts and accesses first and says where they began.
#pragma once

#include "../ir/program.hpp"
#include "../ir/table.hpp"

namespace dovetail::pass::detail {

struct program_writer {
    constexpr explicit program_writer(const ir::sizes<7>& most)
        : data_{vec<ir::buffer>(most.of[0], unset{}), vec<ir::access>(most.of[1], unset{}), vec<ir::part>(most.of[2], unset{}),
                vec<ir::member>(most.of[3], unset{}), vec<ir::vertex>(most.of[4], unset{}), vec<ir::communicator>(most.of[5], unset{}),
                vec<int>(most.of[6], unset{})},
          buffers{data_.buffers.begin()},
          accesses{data_.accesses.begin()},
          parts{data_.parts.begin()},
          members{data_.members.begin()},
          vertices{data_.vertices.begin()} {}

private:
    ir::program_data data_;

public:
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
        const ir::communicator* list = data_.communicators.begin();
        int* listed = data_.communicator_roles.begin();
        for (int c = 0; c < communicator_count; ++c) {
            bool same = list[c].axes == axes && list[c].roles == roles.count;
            for (int i = 0; same && i < roles.count; ++i) same = listed[list[c].first_role + i] == roles.first[i];
            if (same) return c;
        }
        data_.communicators[communicator_count] = {axes, communicator_role_count, roles.count};
        for (int i = 0; i < roles.count; ++i) listed[communicator_role_count++] = roles.first[i];
        return communicator_count++;
    }

    constexpr ir::program_data finish(int roles) {
        data_.buffers.resize(buffer_count);
        data_.accesses.resize(access_count);
        data_.parts.resize(part_count);
        data_.members.resize(member_count);
        data_.vertices.resize(vertex_count);
        data_.communicators.resize(communicator_count);
        data_.communicator_roles.resize(communicator_role_count);
        data_.roles = roles;
        data_.commons = commons;
        return static_cast<ir::program_data&&>(data_);
    }

private:
    int communicator_count = 0, communicator_role_count = 0;
};

}  // namespace dovetail::pass::detail
