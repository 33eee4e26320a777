// The offsets of symmetric sets, the buffers of collectives over roles: takes the members of each set and their lifetimes on all roles,
// gives each set an offset that is the same on all of them.
#pragma once

#include "../sync/synchronisation.hpp"
#include "packing.hpp"

namespace dovetail::pass::detail {

// The buffers of each symmetric set: at set * roles + role, -1 where there is none.
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

// The symmetric prefix of the arenas: where the bytes of each set lie.
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

// Sets of roles, one bit each, united where they have a role in common.
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

// The release of a buffer that is never dead: no clock covers it.
inline constexpr vector_clock endless = {{INT_MAX, INT_MAX, INT_MAX}};

// The sizes of all sets, whose members are alike on all roles.
template <class Program>
constexpr prefix sizes_of(const Program& program, const vec<int>& members) {
    prefix out{vec<prefix::symmetric_set>(program.symmetric_sets)};
    for (int c = 0; c < program.symmetric_sets; ++c)
        for (int r = 0; r < program.roles; ++r) {
            const int b = members[c * program.roles + r];
            if (b < 0) continue;
            out.of[c].size = ir::aligned(program.buffers[b].bytes);
            out.of[c].bytes = program.buffers[b].slots * out.of[c].size;
        }
    return out;
}

// The roles of each set, one bit each; more than 64 share bits, so that more seem to meet.
template <class Program>
constexpr vec<std::uint64_t> roles_of(const Program& program, const vec<int>& members) {
    vec<std::uint64_t> out(program.symmetric_sets);
    for (int i = 0; i < members.size(); ++i)
        if (members[i] >= 0) out[i / program.roles] |= std::uint64_t{1} << i % program.roles % 64;
    return out;
}

// The lifetime of a set in positions of the order, on one time line for all roles: from the first definition to where all steps of all
// members know of the end. Copies for several runs in flight are alive for ever.
struct set_lifetime {
    int from = INT_MAX, until = 0;  // INT_MAX: never, for ever
};
template <class Program>
constexpr set_lifetime lifetime_of(const Program& program, const basic_issue_order<Program>& issued, const basic_lifetimes<Program>& lives,
                                   const vector_clock* floor, const int* members) {
    set_lifetime alive;
    for (int r = 0; r < program.roles; ++r) {
        const int b = members[r];
        if (b < 0) continue;
        if (program.buffers[b].slots > 1) return {0, INT_MAX};
        if (lives.definition[b] < 0) continue;
        const int defined = issued.position[lives.definition[b]], free = free_for_all(lives, b, issued.roles[r], floor);
        const int freed = free == issued.roles[r].first_step + issued.roles[r].steps ? INT_MAX : issued.position[free];
        if (defined < alive.from) alive.from = defined;
        if (freed > alive.until) alive.until = freed;
    }
    return alive;
}

// Packs the sets in the order of their definitions. Those that no chain of shared roles joins are packed each for themselves.
template <class Program>
constexpr prefix pack_symmetric_sets(const Program& program, const basic_issue_order<Program>& issued, const vec<int>& members,
                                     const basic_lifetimes<Program>& lives, const vector_clock* floor, int pairs) {
    prefix out = sizes_of(program, members);
    const vec<std::uint64_t> on = roles_of(program, members);
    int after = 1;
    for (const int position : issued.position)
        if (position >= after) after = position + 1;
    vec<set_lifetime> alive(program.symmetric_sets);
    vec<int> defined_at(after, -1), next(program.symmetric_sets, -1);  // by position: a list of the sets that are defined there
    for (int c = program.symmetric_sets - 1; c >= 0; --c) {
        alive[c] = lifetime_of(program, issued, lives, floor, members.begin() + c * program.roles);
        if (alive[c].from == INT_MAX) continue;
        next[c] = defined_at[alive[c].from];
        defined_at[alive[c].from] = c;
    }
    // Clocks of a single stream: the position.
    vec<vector_clock> known(after);
    for (int t = 0; t < after; ++t) known[t].known[0] = t;
    for (const std::uint64_t group : united(on)) {
        items list{program.symmetric_sets};
        list.known = list.floor = known.begin();
        std::uint64_t everywhere = group;
        for (const int first : defined_at)
            for (int c = first; c >= 0; c = next[c]) {
                if ((on[c] & group) == 0) continue;
                const auto [from, until] = alive[c];
                list.add(out.of[c].bytes, -1, from, until == INT_MAX ? after - 1 : until - 1, {{until}}, c);
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
