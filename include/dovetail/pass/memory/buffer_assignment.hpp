// Buffer assignment: from the program, the issued steps, their clocks and the lifetimes to the offset of each buffer in the device arena or
// the pinned host arena of its role. Two buffers may share bytes if one is dead before the other is defined. Symmetric buffers (of
// collectives over roles) are packed first, at equal offsets on all their roles. Buffers with several slots share bytes with no other; on a
// role without symmetric buffers they are placed last.
#pragma once

#include "symmetric_sets.hpp"

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

constexpr bool in_arena(ir::storage where) {
    return where == ir::storage::arena || where == ir::storage::host || where == ir::storage::workspace;
}

// Packs the arenas of each role. Symmetric sets lie where the prefix says; the rest may fill gaps between them.
template <class Program, class Clocks>
class arena_packing {
public:
    // `members` is empty where there are no symmetric sets.
    constexpr arena_packing(const Program& program, const Clocks& clocks, const Clocks& floor, const basic_lifetimes<Program>& lives,
                            const vec<int>& members, const prefix& prefix, basic_assignment<Program>& out)
        : program_{program},
          clocks_{clocks.begin()},
          floor_{floor.begin()},
          lives_{lives},
          members_{members},
          prefix_{prefix},
          out_{out},
          buffers_{program.buffers.first},
          place_{out.placements.first} {}

    // `pairs`: how many pairs of buffers may be compared, for this role and those after it; counted down.
    constexpr void pack_role(int r, int& pairs) {
        ir::role_plan& role = out_.roles[r];
        const int share = pairs / (program_.roles - r);
        const span<const int> defined = lives_.defined.view().subspan(lives_.first[r], lives_.first[r + 1] - lives_.first[r]);
        const std::int64_t base = place_sets(r);
        contents device = empty(defined.count);
        if (base > 0) add_copies(defined, role, device);
        const bool host_too = add_device(defined, device);
        role.arena_bytes = pack_contents(device, base, role, pairs, share);
        if (!host_too) return;
        contents host = empty(defined.count);
        add_host(defined, host);
        role.host_arena_bytes = pack_contents(host, 0, role, pairs, pairs / (program_.roles - r));
    }

    // Buffers without a known lifetime come after the rest: copies for several runs, and buffers without accesses. An alias lies where the
    // other buffer does.
    constexpr void place_rest() {
        bool alias_first = false;
        for (int b = 0, count = program_.buffers.count; b < count; ++b) {
            if (place_[b].offset >= 0) continue;
            if (const int alias = buffers_[b].alias; alias < 0)
                append(b);
            else if (place_[alias].offset >= 0)
                place_[b] = place_[alias];
            else
                alias_first = true;
        }
        for (int b = 0; b < program_.buffers.count && alias_first; ++b)
            if (buffers_[b].alias >= 0) place_[b] = place_[buffers_[b].alias];
    }

private:
    // What one arena is to hold.
    struct contents {
        items list;
        int given = 0;  // so many of them have their offset
    };

    constexpr contents empty(int most) const {
        contents made{items{most}};
        made.list.known = clocks_;
        made.list.floor = floor_;
        return made;
    }

    // Places the symmetric sets of a role. Returns the end of the last one, in bytes.
    constexpr std::int64_t place_sets(int r) {
        std::int64_t end = 0;
        for (int c = 0; c < prefix_.of.size(); ++c) {
            const int b = members_[c * program_.roles + r];
            const prefix::symmetric_set& set = prefix_.of[c];
            if (b < 0 || set.offset < 0) continue;
            place_[b] = {set.offset, set.size};
            if (end < set.offset + set.bytes) end = set.offset + set.bytes;
        }
        return end;
    }

    // Copies for several runs in flight are alive all the time, and may fill gaps between the sets as well.
    constexpr void add_copies(span<const int> defined, const ir::role_plan& role, contents& to) {
        for (const int b : defined) {
            const ir::buffer& x = buffers_[b];
            if (x.slots == 1 || x.where != ir::storage::arena) continue;
            if (x.symmetric_set >= 0) ++to.given;
            to.list.add(x.slots * ir::aligned(x.bytes), place_[b].offset, role.first_step, role.first_step + role.steps - 1, endless, b);
        }
    }
    constexpr void add(int b, contents& to) {
        const ir::buffer& x = buffers_[b];
        if (x.slots > 1) return;
        const bool is_placed = has_symmetric_ && x.symmetric_set >= 0;
        if (is_placed) ++to.given;
        to.list.add(ir::aligned(x.bytes), is_placed ? place_[b].offset : -1, lives_.definition.first[b], lives_.last.first[b],
                    lives_.held.first[b] ? endless : lives_.release.first[b], b);
    }
    // Gives whether there are buffers for the host's arena.
    constexpr bool add_device(span<const int> defined, contents& to) {
        bool host_too = false;
        for (const int b : defined) {
            const ir::storage where = buffers_[b].where;
            if (where == ir::storage::host)
                host_too = true;
            else if (where == ir::storage::arena || where == ir::storage::workspace)
                add(b, to);
        }
        return host_too;
    }
    constexpr void add_host(span<const int> defined, contents& to) {
        for (const int b : defined)
            if (buffers_[b].where == ir::storage::host) add(b, to);
    }

    // Gives the bytes of the arena.
    constexpr std::int64_t pack_contents(contents& in, std::int64_t base, const ir::role_plan& role, int& pairs, int share) {
        if (ir::has_parts(program_)) know_by_all(program_, lives_, clocks_, in.list);
        const std::int64_t bytes = pack(in.list, in.given, base, role.first_step, role.steps, pairs, share);
        const std::int64_t *offset = in.list.offset.begin(), *size = in.list.size.begin();
        const int* buffer = in.list.id.begin();
        for (int i = 0; i < in.list.count; ++i) {
            const ir::buffer& x = buffers_[buffer[i]];
            if (!has_symmetric_ || x.symmetric_set < 0) place_[buffer[i]] = {offset[i], x.slots > 1 ? size[i] / x.slots : size[i]};
        }
        return bytes;
    }

    constexpr void append(int b) {
        const ir::buffer& x = buffers_[b];
        ir::role_plan& role = out_.roles[x.role];
        const std::int64_t each = ir::aligned(x.bytes);
        if (x.where == ir::storage::state) role.state_bytes += each;
        if (!in_arena(x.where)) return;
        std::int64_t& bytes = x.where == ir::storage::host ? role.host_arena_bytes : role.arena_bytes;
        place_[b] = {bytes, each};
        bytes += x.slots * each;
    }

    const Program& program_;
    const vector_clock *clocks_, *floor_;
    const basic_lifetimes<Program>& lives_;
    const vec<int>& members_;
    const prefix& prefix_;
    basic_assignment<Program>& out_;
    const ir::buffer* buffers_;
    ir::placement* place_;
    const bool has_symmetric_ = !members_.empty();
};

template <class Program, class Clocks>
constexpr basic_assignment<Program> arrange(const Program& program, const basic_issue_order<Program>& issued, const Clocks& clocks,
                                            const Clocks& floor, const basic_lifetimes<Program>& lives, const vec<int>& members,
                                            const prefix& prefix, int& pairs) {
    basic_assignment<Program> out{};
    out.placements.resize(program.buffers.count);
    out.roles = issued.roles;
    arena_packing<Program, Clocks> packing{program, clocks, floor, lives, members, prefix, out};
    for (int r = 0; r < program.roles; ++r) packing.pack_role(r, pairs);
    packing.place_rest();
    return out;
}

// Whether roles need fewer bytes: the role that needs most, which decides about a memory limit; if equal, all roles together.
constexpr bool need_less(const vec<ir::role_plan>& a, const vec<ir::role_plan>& than) {
    std::int64_t most[2] = {}, sum[2] = {};
    for (int i = 0; i < 2; ++i)
        for (const ir::role_plan& r : i == 0 ? a : than) {
            if (ir::bytes_of(r) > most[i]) most[i] = ir::bytes_of(r);
            sum[i] += r.arena_bytes;
        }
    return most[0] != most[1] ? most[0] < most[1] : sum[0] < sum[1];
}

}  // namespace detail

template <class Program>
constexpr basic_assignment<Program> assign_buffers(const Program& program, const basic_issue_order<Program>& issued,
                                                   const room<vector_clock, decltype(Program::participations)>& clocks,
                                                   const basic_lifetimes<Program>& lives, const assignment_options& options = {}) {
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
