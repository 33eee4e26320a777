// Buffer assignment: from the program, the issued steps, their clocks and the lifetimes to the offset of each buffer in the device arena or
// the pinned host arena of its role. Two buffers may share bytes if one is dead before the other is defined. Symmetric buffers (of
// collectives over roles) are packed first, at equal offsets on all their roles. Buffers with several slots share bytes with no other; on a
// role without symmetric buffers they are placed last.
#pragma once

#include "../sync/synchronisation.hpp"
#include "packing.hpp"

namespace dovetail::pass {

template <class Program>
struct basic_assignment {
    room<ir::placement, decltype(Program::buffers)> placements;  // by buffer
    vec<ir::role_plan> roles;                                    // as in the issue order, with the sizes of the arenas
};
using assignment = basic_assignment<ir::program>;

// Bounds of the compile time of buffer assignment.
struct assignment_options {
    int pairs = 24'000;   // pairs of buffers that packing by key may compare, over all roles together
    int both_ends = 512;  // number of buffers up to which the symmetric prefix is tried from both ends
};

namespace detail {

// By step: the minimum of the clocks of this and all later steps of the role. Bytes whose release it covers are free for all of them.
template <class Program>
constexpr auto floors(const basic_issue_order<Program>& issued, const room<vector_clock, decltype(Program::participations)>& clocks) {
    auto out = room<vector_clock, decltype(Program::participations)>::sized(issued.steps.size());
    auto& floor = out.first;
    const auto& known = clocks.first;
    for (const ir::role_plan& role : issued.roles) {
        vector_clock least = {{INT_MAX, INT_MAX, INT_MAX}};
        const int* mine = nullptr;
        for (int s = role.first_step + role.steps - 1; s >= role.first_step; --s) {
            mine = known[s].known;
            if (mine[0] < least.known[0]) least.known[0] = mine[0];
            if (mine[1] < least.known[1]) least.known[1] = mine[1];
            if (mine[2] < least.known[2]) least.known[2] = mine[2];
            floor[s] = least;
        }
    }
    return out;
}

constexpr bool in_arena(ir::storage where) { return where == ir::storage::arena || where == ir::storage::host || where == ir::storage::workspace; }

// The buffer of each symmetric set on each role, at set * roles + role; -1: none.
template <class Program>
constexpr vec<int> members_of(const Program& program) {
    vec<int> out(program.symmetric_sets * program.roles, -1);
    for (int b = 0; b < program.buffers.count; ++b)
        if (const int c = program.buffers[b].symmetric_set; c >= 0) out[c * program.roles + program.buffers[b].role] = b;
    return out;
}

// The first step of the role from which on the clocks of all steps cover the buffer's release; the end if there is none.
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

// The prefix of the arenas that holds the symmetric sets, and the offset of each set in it.
struct prefix {
    struct symmetric_set {
        std::int64_t offset = -1, size = 0, bytes = 0;  // size: of one slot; bytes: of all slots
        std::int64_t end = 0;                           // size of the sets that it was packed with
    };
    vec<symmetric_set> of;

    // The prefix with its addresses in reverse order.
    constexpr prefix mirrored() const {
        prefix other = *this;
        for (symmetric_set& c : other.of)
            if (c.offset >= 0) c.offset = c.end - c.offset - c.bytes;
        return other;
    }
};

// Unites the sets of roles (one bit each) that have a role in common.
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

// The release of a buffer that lives to the end of all runs: no clock covers it.
inline constexpr vector_clock endless = {{INT_MAX, INT_MAX, INT_MAX}};

// Packs the symmetric sets. Their lifetimes are positions in the order of all roles: from the first definition to the position from which
// on all steps of all members cover the release. Sets with several slots live to the end. Sets that no chain of shared roles connects are
// packed separately.
template <class Program>
constexpr prefix pack_symmetric_sets(const Program& program, const basic_issue_order<Program>& issued, const vec<int>& members,
                                     const basic_lifetimes<Program>& lives, const vector_clock* floor, int pairs) {
    const int roles = program.roles;
    prefix out{vec<prefix::symmetric_set>(program.symmetric_sets)};
    int after = 1;
    for (const int position : issued.position)
        if (position >= after) after = position + 1;
    vec<int> at_position(after, -1), next(program.symmetric_sets, -1), from(program.symmetric_sets), until(program.symmetric_sets);
    vec<std::uint64_t> on(program.symmetric_sets);  // the roles of a set, one bit each; beyond 64 roles share bits, which is safe
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
    // The clocks of a single stream: the positions.
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

// Places all buffers, role by role: symmetric sets at their offsets in the prefix, others in the gaps between them or behind.
template <class Program, class Clocks>
constexpr basic_assignment<Program> arrange(const Program& program, const basic_issue_order<Program>& issued, const Clocks& clocks, const Clocks& floor,
                                            const basic_lifetimes<Program>& lives, const vec<int>& members, const prefix& prefix, int& pairs) {
    const int buffers = program.buffers.count, roles = program.roles;
    const auto& buffer = program.buffers.first;
    basic_assignment<Program> out{};
    out.placements.resize(buffers);
    out.roles = issued.roles;
    auto& place = out.placements.first;
    const bool agreeing = !members.empty();
    const int symmetric_sets = prefix.of.size();

    const auto &defined = lives.defined.first, &definition = lives.definition.first, &last = lives.last.first;
    const auto& release = lives.release.first;
    const auto& held = lives.held.first;
    for (int r = 0; r < roles; ++r) {
        ir::role_plan& role = out.roles[r];
        const int first = lives.first[r], count = lives.first[r + 1] - first;
        for (int kind = 0; kind < 2; ++kind) {
            int given = 0, others = 0;
            std::int64_t base = 0;
            items list{count};
            list.known = clocks.begin();
            list.floor = floor.begin();
            // Declared once, see plan/compile/README.md.
            int b = 0;
            ir::storage where{};
            bool shared = false;
            for (int c = 0; c < symmetric_sets && kind == 0; ++c) {
                b = members[c * roles + r];
                if (b < 0 || prefix.of[c].offset < 0) continue;
                place[b] = {prefix.of[c].offset, prefix.of[c].size};
                if (base < prefix.of[c].offset + prefix.of[c].bytes) base = prefix.of[c].offset + prefix.of[c].bytes;
            }
            // Buffers with several slots may fill gaps too.
            for (int d = first; d < first + count && base > 0; ++d) {
                b = defined[d];
                if (buffer[b].slots == 1 || buffer[b].where != ir::storage::arena) continue;
                if (buffer[b].symmetric_set >= 0) ++given;
                list.add(buffer[b].slots * ir::aligned(buffer[b].bytes), place[b].offset, role.first_step, role.first_step + role.steps - 1, endless, b);
            }
            for (int d = first; d < first + count; ++d) {
                b = defined[d];
                where = buffer[b].where;
                if (where == ir::storage::host ? kind == 0 : kind == 1 || (where != ir::storage::arena && where != ir::storage::workspace)) {
                    others += where == ir::storage::host ? 1 : 0;
                    continue;
                }
                if (buffer[b].slots > 1) continue;
                shared = agreeing && buffer[b].symmetric_set >= 0;
                if (shared) ++given;
                list.add(ir::aligned(buffer[b].bytes), shared ? place[b].offset : -1, definition[b], last[b], held[b] ? endless : release[b], b);
            }
            if (ir::has_parts(program)) know_by_all(program, lives, clocks, list);
            (kind == 0 ? role.arena_bytes : role.host_arena_bytes) = pack(list, given, base, role.first_step, role.steps, pairs, pairs / (roles - r));
            const std::int64_t *offset = list.offset.begin(), *size = list.size.begin();
            for (int i = 0; i < list.count; ++i)
                if (!agreeing)
                    place[list.id[i]] = {offset[i], size[i]};
                else if (b = list.id[i]; buffer[b].symmetric_set < 0)
                    place[b] = {offset[i], size[i] / buffer[b].slots};
            if (others == 0) break;
        }
    }
    bool in_place = false;
    for (int b = 0, alias = 0; b < buffers; ++b) {
        if (place[b].offset >= 0) continue;
        alias = buffer[b].alias;
        if (alias >= 0) {
            if (place[alias].offset >= 0)
                place[b] = place[alias];
            else
                in_place = true;
            continue;
        }
        ir::role_plan& role = out.roles[buffer[b].role];
        if (buffer[b].where == ir::storage::state) role.state_bytes += ir::aligned(buffer[b].bytes);
        if (!in_arena(buffer[b].where)) continue;
        // Buffers with several slots, and buffers that no step accesses.
        std::int64_t& bytes = buffer[b].where == ir::storage::host ? role.host_arena_bytes : role.arena_bytes;
        const std::int64_t each = ir::aligned(buffer[b].bytes);
        place[b] = {bytes, each};
        bytes += buffer[b].slots * each;
    }
    for (int b = 0; b < buffers && in_place; ++b)
        if (buffer[b].alias >= 0) place[b] = place[buffer[b].alias];
    return out;
}

// Whether roles need fewer bytes: the role that needs most, which decides about a memory limit; if equal, all roles together.
constexpr bool need_less(const vec<ir::role_plan>& a, const vec<ir::role_plan>& than) {
    std::int64_t most[2] = {}, sum[2] = {};
    for (int i = 0; i < 2; ++i)
        for (const ir::role_plan& r : i == 0 ? a : than) {
            if (r.arena_bytes + r.state_bytes > most[i]) most[i] = r.arena_bytes + r.state_bytes;
            sum[i] += r.arena_bytes;
        }
    return most[0] != most[1] ? most[0] < most[1] : sum[0] < sum[1];
}

}  // namespace detail

template <class Program>
constexpr basic_assignment<Program> assign_buffers(const Program& program, const basic_issue_order<Program>& issued,
                                                   const room<vector_clock, decltype(Program::participations)>& clocks, const basic_lifetimes<Program>& lives,
                                                   const assignment_options& options = {}) {
    const auto floor = detail::floors<Program>(issued, clocks);
    int pairs = options.pairs;
    // A single role has no symmetric buffers.
    if (program.symmetric_sets == 0 || program.roles == 1) return detail::arrange(program, issued, clocks, floor, lives, {}, {}, pairs);
    const vec<int> members = detail::members_of(program);
    const detail::prefix prefix = detail::pack_symmetric_sets(program, issued, members, lives, floor.begin(), pairs / 2);
    basic_assignment<Program> out = detail::arrange(program, issued, clocks, floor, lives, members, prefix, pairs);
    // A set at a high offset leaves a gap on roles without the sets below it. Try the prefix in both directions and keep the better one.
    if (program.symmetric_sets == 1 || program.buffers.count > options.both_ends) return out;
    const basic_assignment<Program> other = detail::arrange(program, issued, clocks, floor, lives, members, prefix.mirrored(), pairs);
    return detail::need_less(other.roles, out.roles) ? other : out;
}

}  // namespace dovetail::pass
