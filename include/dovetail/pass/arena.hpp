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

// What every step from here on knows of its role's lanes: bytes released by then are free for whoever comes.
constexpr vec<clock> floors(const issue& issued, const clock* known) {
    vec<clock> out(issued.steps.size());
    const ir::step* steps = issued.steps.begin();
    for (const ir::role_plan& role : issued.roles) {
        clock next[lane_count];  // of the next step on each lane
        clock least;
        for (clock& c : next) c = {{INT_MAX, INT_MAX, INT_MAX}};
        for (int s = role.first_step + role.steps - 1; s >= role.first_step; --s) {
            next[steps[s].lane] = known[s];
            for (int l = 0; l < lane_count; ++l) {
                const int a = next[0].known[l], b = next[1].known[l], c = next[2].known[l];
                least.known[l] = a < b ? (a < c ? a : c) : (b < c ? b : c);
            }
            out[s] = least;
        }
    }
    return out;
}

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
            const int c = program.buffers[b].common, owner = owner_of(program, b);
            // An owner's own number goes before that of a buffer that takes over its bytes.
            if (c < 0 || (owner != b) != (pass == 1) || out.of[owner] >= 0) continue;
            int& member = out.member[c * program.roles + program.buffers[b].role];
            if (member >= 0) continue;
            member = owner;
            out.of[owner] = c;
        }
    return out;
}

// The first step of the role from which on all steps know that the buffer is dead, or the end.
constexpr int free_for_all(const lifetime& life, const ir::role_plan& role, const clock* floor) {
    int low = life.last + 1, high = role.first_step + role.steps;
    if (life.held) return high;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (dead_before(life, floor[middle])) high = middle;
        else low = middle + 1;
    }
    return low;
}

}  // namespace detail

constexpr memory arena(const ir::program& program, const issue& issued, span<const clock> clocks, const lifetimes& lives,
                       const arena_settings& settings = {}) {
    const int buffers = program.buffers.size(), roles = program.roles;
    const ir::buffer* buffer = program.buffers.begin();
    const lifetime* life = lives.of.begin();
    const clock* known = clocks.begin();
    const vec<clock> floor = detail::floors(issued, known);
    const detail::commons commons = detail::commons_of(program);
    memory out{vec<ir::placement>(buffers), issued.roles};
    ir::placement* place = out.placements.begin();
    int pairs = settings.pairs;
    auto in_arena = [&](int b) {
        const ir::storage where = buffer[b].where;
        return buffer[b].alias < 0 && (where == ir::storage::arena || where == ir::storage::host || where == ir::storage::workspace);
    };
    auto item_of = [&](int b) {
        detail::item i;
        i.size = ir::aligned(buffer[b].bytes);
        i.definition = life[b].definition;
        i.last = life[b].last;
        i.release = life[b].held ? clock{{INT_MAX, INT_MAX, INT_MAX}} : life[b].release;
        i.known = known[i.definition];
        i.floor = floor[i.definition];
        i.id = b;
        return i;
    };

    // Commons: an item each, in the order of the vertices, with copies for runs in flight in front.
    vec<std::int64_t> prefix(roles), low(roles);
    if (program.commons > 0 && roles > 1) {
        std::int64_t dedicated = 0;
        vec<int> at_position, next(program.commons, -1);
        vec<detail::item> items;
        vec<int> definition(program.commons, -1), retired(program.commons, -1);
        vec<std::int64_t> size(program.commons);
        int end = 0;
        for (int s = 0; s < issued.steps.size(); ++s)
            if (issued.position[s] >= end) end = issued.position[s] + 1;
        at_position = vec<int>(end + 1, -1);
        for (int c = program.commons - 1; c >= 0; --c) {
            int slots = 1;
            for (int r = 0; r < roles; ++r) {
                const int b = commons.member[c * roles + r];
                if (b < 0) continue;
                if (buffer[b].slots > slots) slots = buffer[b].slots;
                if (ir::aligned(buffer[b].bytes) > size[c]) size[c] = ir::aligned(buffer[b].bytes);
                if (life[b].definition < 0) continue;
                const int from = issued.position[life[b].definition];
                if (definition[c] < 0 || from < definition[c]) definition[c] = from;
                const ir::role_plan& role = issued.roles[r];
                const int free = detail::free_for_all(life[b], role, floor.begin());
                const int until = life[b].held || free == role.first_step + role.steps ? end : issued.position[free];
                if (until > retired[c]) retired[c] = until;
            }
            if (definition[c] < 0) definition[c] = 0;
            if (slots > 1) {
                for (int r = 0; r < roles; ++r)
                    if (const int b = commons.member[c * roles + r]; b >= 0) {
                        place[b] = {dedicated, size[c]};
                        low[r] = prefix[r] = dedicated + slots * size[c];
                    }
                dedicated += slots * size[c];
                continue;
            }
            next[c] = at_position[definition[c]];
            at_position[definition[c]] = c;
        }
        for (int p = 0; p <= end; ++p)
            for (int c = at_position[p]; c >= 0; c = next[c]) {
                detail::item i;
                i.size = size[c];
                i.definition = p;
                i.last = retired[c] - 1;
                i.id = c;
                items.push(i);
            }
        const int n = items.size();
        if (static_cast<std::int64_t>(n) * n / 2 * roles <= pairs) {
            pairs -= n * n / 2 * roles;
            auto apart = [&](const detail::item& x, const detail::item& y) {
                for (int r = 0; r < roles; ++r) {
                    const int a = commons.member[x.id * roles + r], b = commons.member[y.id * roles + r];
                    if (a < 0 || b < 0 || life[a].definition < 0 || life[b].definition < 0) continue;
                    if (!dead_before(life[a], known[life[b].definition]) && !dead_before(life[b], known[life[a].definition])) return false;
                }
                return true;
            };
            detail::pack_by_size(items, 0, 0, apart);
        } else {
            // Too many to compare: by the time at which everybody knows, on all roles.
            detail::pack_in_order(items, 0, 0, end + 1);
        }
        for (const detail::item& i : items)
            for (int r = 0; r < roles; ++r)
                if (const int b = commons.member[i.id * roles + r]; b >= 0) {
                    place[b] = {dedicated + i.offset, i.size};
                    if (prefix[r] < dedicated + i.offset + i.size) prefix[r] = dedicated + i.offset + i.size;
                }
    }

    for (int r = 0; r < roles; ++r) {
        ir::role_plan& role = out.roles[r];
        for (int host = 0; host < 2; ++host) {
            vec<detail::item> items;
            int fixed = 0;
            for (int s = role.first_step; s < role.first_step + role.steps; ++s)
                for (int b = lives.defined[s]; b >= 0; b = lives.next[b]) {
                    if (!in_arena(b) || (buffer[b].where == ir::storage::host) != (host == 1) || buffer[b].slots > 1) continue;
                    if (host == 0 && commons.of[b] >= 0) ++fixed;
                    items.push(item_of(b));
                    if (commons.of[b] >= 0) items.back().offset = place[b].offset;
                }
            const std::int64_t base = host == 1 ? 0 : prefix[r];
            std::int64_t& bytes = host == 1 ? role.host_arena_bytes : role.arena_bytes;
            bytes = detail::pack(items, fixed, host == 1 ? 0 : low[r], base, role.first_step, role.steps, pairs);
            for (const detail::item& i : items)
                if (commons.of[i.id] < 0) place[i.id] = {i.offset, i.size};
        }
    }
    for (int b = 0; b < buffers; ++b) {
        ir::role_plan& role = out.roles[buffer[b].role];
        if (buffer[b].where == ir::storage::state) role.state_bytes += ir::aligned(buffer[b].bytes);
        if (!in_arena(b) || place[b].offset >= 0) continue;
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
