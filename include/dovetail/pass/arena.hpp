// Places of buffers: takes the program, the issued steps, their clocks and the lifetimes, gives every buffer its offset in
// the device or the pinned host arena of its role. Bytes are shared by buffers of which one is dead before the other is
// defined. Buffers of collectives over roles come first, at equal offsets on all their roles; copies for several runs in
// flight come last, and share with nobody.
#pragma once

#include "liveness.hpp"
#include "pack.hpp"

namespace dovetail::pass {

struct memory {
    vec<ir::placement> placements;  // by buffer
    vec<ir::role_plan> roles;       // those of the issue, with their bytes
};

// Pairs of buffers that packing by size may look at, over all roles together: what bounds its cost while compiling.
struct arena_settings {
    int pairs = 24'000;
};

namespace detail {

constexpr int least_of(int a, int b, int c) { return a < b ? (a < c ? a : c) : (b < c ? b : c); }

// What every step from here on knows of its role's lanes: bytes released by then are free for whoever comes.
constexpr vec<clock> floors(const issue& issued, const clock* known) {
    vec<clock> out(issued.steps.size());
    clock* floor = out.begin();
    const ir::step* steps = issued.steps.begin();
    for (const ir::role_plan& role : issued.roles) {
        clock next[lane_count];  // of the next step on each lane
        for (clock& c : next) c = {{INT_MAX, INT_MAX, INT_MAX}};
        for (int s = role.first_step + role.steps - 1; s >= role.first_step; --s) {
            next[steps[s].lane] = known[s];
            floor[s] = {{least_of(next[0].known[0], next[1].known[0], next[2].known[0]), least_of(next[0].known[1], next[1].known[1], next[2].known[1]),
                         least_of(next[0].known[2], next[1].known[2], next[2].known[2])}};
        }
    }
    return out;
}

constexpr bool in_arena(ir::storage where) { return where == ir::storage::arena || where == ir::storage::host || where == ir::storage::workspace; }

// The memory of one common number: its members, by role.
struct commons {
    vec<int> member;  // common * roles + role; -1: none
    vec<int> of;      // by buffer: its number, -1: none
};

constexpr commons commons_of(const ir::program& program) {
    commons out{vec<int>(program.commons * program.roles, -1), vec<int>(program.buffers.size(), -1)};
    // On a single role there is nobody to agree with.
    if (program.roles < 2) return out;
    for (int pass = 0; pass < 2; ++pass)
        for (int b = 0; b < program.buffers.size(); ++b) {
            if (program.buffers[b].common < 0) continue;
            const int c = program.buffers[b].common, owner = owner_of(program, b);
            // An owner's own number goes before that of a buffer that takes over its bytes.
            if ((owner != b) != (pass == 1) || out.of[owner] >= 0) continue;
            int& member = out.member[c * program.roles + program.buffers[b].role];
            if (member >= 0) continue;
            member = owner;
            out.of[owner] = c;
        }
    return out;
}

// The step of the role from which on all steps know that the buffer is dead, or the end.
constexpr int free_for_all(const lifetime& life, const ir::role_plan& role, const clock* floor) {
    int low = life.last + 1, high = role.first_step + role.steps;
    if (life.held) return high;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (dead_before(life, floor[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// The common prefix: places for the buffers of collectives over roles. Their lifetimes last, on one time line for all roles,
// from the first definition to where all steps of all members know of the end; copies for runs in flight come in front.
// `end`: of the bytes used on each role; `low`: of those copies.
constexpr void place_commons(const ir::program& program, const issue& issued, const commons& commons, const lifetime* life, const clock* floor,
                             ir::placement* place, vec<std::int64_t>& low, vec<std::int64_t>& end, int pairs) {
    const int roles = program.roles;
    std::int64_t dedicated = 0;
    int after = 1;
    for (const int position : issued.position)
        if (position >= after) after = position + 1;
    vec<int> at_position(after, -1), next(program.commons, -1);
    vec<item> of(program.commons), items;
    for (int c = program.commons - 1; c >= 0; --c) {
        item& i = of[c];
        int slots = 1, from = after, until = 0;
        for (int r = 0; r < roles; ++r) {
            const int b = commons.member[c * roles + r];
            if (b < 0) continue;
            const ir::buffer& buffer = program.buffers[b];
            if (buffer.slots > slots) slots = buffer.slots;
            if (ir::aligned(buffer.bytes) > i.size) i.size = ir::aligned(buffer.bytes);
            if (life[b].definition < 0) continue;
            if (issued.position[life[b].definition] < from) from = issued.position[life[b].definition];
            const int free = free_for_all(life[b], issued.roles[r], floor);
            const int position = free == issued.roles[r].first_step + issued.roles[r].steps ? INT_MAX : issued.position[free];
            if (position > until) until = position;
        }
        if (slots > 1) {
            for (int r = 0; r < roles; ++r)
                if (const int b = commons.member[c * roles + r]; b >= 0) {
                    place[b] = {dedicated, i.size};
                    low[r] = end[r] = dedicated + slots * i.size;
                }
            dedicated += slots * i.size;
        } else if (from < after) {
            // Clocks of a single lane: the position.
            i.definition = from;
            i.last = until == INT_MAX ? after - 1 : until - 1;
            i.release.known[0] = until;
            i.known.known[0] = i.floor.known[0] = from;
            i.id = c;
            next[c] = at_position[from];
            at_position[from] = c;
        }
    }
    for (const int first : at_position)
        for (int c = first; c >= 0; c = next[c]) items.push(of[c]);
    pack(items, 0, 0, 0, 0, after, pairs);
    for (const item& i : items)
        for (int r = 0; r < roles; ++r)
            if (const int b = commons.member[i.id * roles + r]; b >= 0) {
                place[b] = {dedicated + i.offset, i.size};
                if (end[r] < dedicated + i.offset + i.size) end[r] = dedicated + i.offset + i.size;
            }
}

}  // namespace detail

constexpr memory arena(const ir::program& program, const issue& issued, span<const clock> clocks, const lifetimes& lives, const arena_settings& settings = {}) {
    const int buffers = program.buffers.size(), roles = program.roles;
    const ir::buffer* buffer = program.buffers.begin();
    const lifetime* life = lives.of.begin();
    const clock* known = clocks.begin();
    const vec<clock> floor = detail::floors(issued, known);
    const detail::commons commons = detail::commons_of(program);
    memory out{vec<ir::placement>(buffers), vec<ir::role_plan>(issued.roles)};
    ir::placement* place = out.placements.begin();
    const int* common = commons.of.begin();
    constexpr clock never = {{INT_MAX, INT_MAX, INT_MAX}};
    int pairs = settings.pairs;
    // Commons go first; the rest of a role's arena may fill gaps between them.
    vec<std::int64_t> low(roles), prefix(roles);
    if (program.commons > 0 && roles > 1) detail::place_commons(program, issued, commons, life, floor.begin(), place, low, prefix, pairs / 2);

    const int *defined = lives.defined.begin(), *next = lives.next.begin();
    for (int r = 0; r < roles; ++r) {
        ir::role_plan& role = out.roles[r];
        vec<detail::item> items[2];
        int fixed = 0;
        for (int s = role.first_step; s < role.first_step + role.steps; ++s)
            for (int b = defined[s]; b >= 0; b = next[b]) {
                const ir::storage where = buffer[b].where;
                if (!detail::in_arena(where) || buffer[b].slots > 1) continue;
                const bool shared = common[b] >= 0;
                if (shared) ++fixed;
                items[where == ir::storage::host].push({ir::aligned(buffer[b].bytes), shared ? place[b].offset : -1, s, life[b].last,
                                                        life[b].held ? never : life[b].release, known[s], floor.begin()[s], b});
            }
        role.arena_bytes = detail::pack(items[0], fixed, low[r], prefix[r], role.first_step, role.steps, pairs);
        role.host_arena_bytes = detail::pack(items[1], 0, 0, 0, role.first_step, role.steps, pairs);
        for (const vec<detail::item>& list : items)
            for (const detail::item& i : list)
                if (common[i.id] < 0) place[i.id] = {i.offset, i.size};
    }
    for (int b = 0; b < buffers; ++b) {
        ir::role_plan& role = out.roles[buffer[b].role];
        if (buffer[b].where == ir::storage::state) role.state_bytes += ir::aligned(buffer[b].bytes);
        if (buffer[b].alias >= 0 || !detail::in_arena(buffer[b].where) || place[b].offset >= 0) continue;
        // Several slots, or never touched.
        std::int64_t& bytes = buffer[b].where == ir::storage::host ? role.host_arena_bytes : role.arena_bytes;
        const std::int64_t each = ir::aligned(buffer[b].bytes);
        place[b] = {bytes, each};
        bytes += buffer[b].slots * each;
    }
    for (int b = 0; b < buffers; ++b)
        if (buffer[b].alias >= 0) place[b] = place[buffer[b].alias];
    return out;
}

}  // namespace dovetail::pass
