// Places of symmetric sets, the buffers of collectives over roles: takes the members of each set and their lifetimes on all roles, gives
// each set an offset that is the same on all of them.
#pragma once

#include "../sync/synchronisation.hpp"
#include "packing.hpp"

namespace dovetail::pass::detail {

// The buffers of each symmetric set: at common * roles + role, -1 where there is none.
template <class Program>
constexpr vec<int> members_of(const Program& program) {
    vec<int> out(program.symmetric_sets * program.roles, -1);
    for (int b = 0; b < program.buffers.count; ++b)
        if (const int c = program.buffers[b].symmetric_set; c >= 0) out[c * program.roles + program.buffers[b].role] = b;
    return out;
}

// The step of the role from which on all steps know that the buffer is dead, or the end.
template <class Program>
constexpr int free_for_all(const basic_lifetimes<Program>& lives, int buffer, const ir::role_plan& role, const vector_clock* floor) {
    int low = lives.last[buffer] + 1, high = role.first_step + role.steps;
    if (lives.held[buffer]) return high;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (covers(floor[middle], lives.release[buffer]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// The symmetric prefix: where the bytes of each number lie.
struct prefix {
    struct symmetric_set {
        std::int64_t offset = -1, size = 0, bytes = 0;  // of one copy; of all
        std::int64_t end = 0;                           // of all that it was packed with
    };
    vec<symmetric_set> of;

    // The same seen from the other end.
    constexpr prefix mirrored() const {
        prefix other = *this;
        for (symmetric_set& c : other.of)
            if (c.offset >= 0) c.offset = c.end - c.offset - c.bytes;
        return other;
    }
};

// Sets of roles, one bit each, of which those that have one in common are one.
constexpr vec<std::uint64_t> united(const vec<std::uint64_t>& sets) {
    vec<std::uint64_t> out;
    for (std::uint64_t set : sets) {
        for (int i = out.size() - 1; i >= 0; --i) {
            if ((out[i] & set) == 0) continue;
            set |= out[i];
            out[i] = out[out.size() - 1];
            out.cut(out.size() - 1);
        }
        out.push(set);
    }
    return out;
}

// Nobody ever knows its end.
inline constexpr vector_clock endless = {{INT_MAX, INT_MAX, INT_MAX}};

// Lifetimes of symmetric_sets last, on one time line for all roles, from the first definition to where all steps of all members know of
// the end. Copies for several runs in flight last for ever. Those that no chain of shared roles joins are packed each for themselves.
template <class Program>
constexpr prefix pack_symmetric_sets(const Program& program, const basic_issue_order<Program>& issued, const vec<int>& members,
                                     const basic_lifetimes<Program>& lives, const vector_clock* floor, int pairs) {
    const int roles = program.roles;
    prefix out{vec<prefix::symmetric_set>(program.symmetric_sets)};
    int after = 1;
    for (const int position : issued.position)
        if (position >= after) after = position + 1;
    vec<int> at_position(after, -1), next(program.symmetric_sets, -1), from(program.symmetric_sets), until(program.symmetric_sets);
    vec<std::uint64_t> on(program.symmetric_sets);  // its roles, one bit each; more than 64 share bits, so that more seem to meet
    for (int c = program.symmetric_sets - 1; c >= 0; --c) {
        prefix::symmetric_set& mine = out.of[c];
        int slots = 1;
        from[c] = after;
        for (int r = 0; r < roles; ++r) {
            const int b = members[c * roles + r];
            if (b < 0) continue;
            on[c] |= std::uint64_t{1} << r % 64;
            const ir::buffer& buffer = program.buffers[b];
            slots = buffer.slots;
            mine.size = ir::aligned(buffer.bytes);
            if (lives.definition[b] < 0) continue;
            if (issued.position[lives.definition[b]] < from[c]) from[c] = issued.position[lives.definition[b]];
            const int free = free_for_all(lives, b, issued.roles[r], floor);
            const int position = free == issued.roles[r].first_step + issued.roles[r].steps ? INT_MAX : issued.position[free];
            if (position > until[c]) until[c] = position;
        }
        mine.bytes = slots * mine.size;
        if (slots > 1) {
            from[c] = 0;
            until[c] = INT_MAX;
        }
        if (from[c] == after) continue;
        next[c] = at_position[from[c]];
        at_position[from[c]] = c;
    }
    // Clocks of a single stream: the position.
    vec<vector_clock> known(after);
    for (int t = 0; t < after; ++t) known[t].known[0] = t;
    for (const std::uint64_t group : united(on)) {
        items list{program.symmetric_sets};
        list.known = list.floor = known.begin();
        std::uint64_t everywhere = group;
        for (const int first : at_position)
            for (int c = first; c >= 0; c = next[c]) {
                if ((on[c] & group) == 0) continue;
                list.add(out.of[c].bytes, -1, from[c], until[c] == INT_MAX ? after - 1 : until[c] - 1, {{until[c]}}, c);
                everywhere &= on[c];
            }
        if (everywhere == 0) list.roles = on.begin();
        const std::int64_t end = pack(list, 0, 0, 0, after, pairs, pairs);
        for (int i = 0; i < list.count; ++i) {
            out.of[list.id[i]].offset = list.offset[i];
            out.of[list.id[i]].end = end;
        }
    }
    return out;
}

}  // namespace dovetail::pass::detail
