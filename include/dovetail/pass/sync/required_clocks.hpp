// What the steps of a run must know of earlier runs: takes the program, its issued steps with the waits within a run, the lifetimes and
// the places, gives the clocks that a step needs of each earlier run.
//
// For accesses a and b of the same bytes, one of them a write, a of run k has to come before b of run k + s, where s is the
// number of slots. Within a run a and b are ordered. Where a comes first, nothing is missing: a of run k comes before b of
// run k, and that before b of run k + s on the same stream. So only those are left where b comes first in the run, and an event
// waited for across runs is always recorded behind the wait. Of the leaves that share a byte, each is dead before the next
// one is defined; so the first one's definition waits for the accesses of the last one, and the others follow.
#pragma once

#include "../memory/buffer_assignment.hpp"

namespace dovetail::pass::detail {

// Step `step` of run k + distance must know these counts of the streams of run k.
struct required_clock {
    int step = 0;
    int distance = 1;
    vector_clock need = {};
};

class required_clocks {
public:
    template <class Program>
    constexpr required_clocks(const basic_issue_order<Program>& issued, const basic_in_run<Program>& waits)
        : steps_{issued.steps.begin()}, known_{waits.known.begin()} {}

    // What the step knows of its own run and what its stream did in runs before needs no wait.
    constexpr void add(int step, int distance, vector_clock need) {
        const vector_clock& known = known_[step];
        for (int l = 0; l < stream_count; ++l)
            if (l == steps_[step].stream || need.known[l] <= known.known[l]) need.known[l] = 0;
        if (need.known[0] + need.known[1] + need.known[2] > 0) list.push({step, distance, need});
    }

    vec<required_clock> list;

private:
    const issued_step* steps_;
    const vector_clock* known_;
};

// Bytes that one leaf has first, or last.
struct owned_bytes {
    std::int64_t begin = 0, end = 0;
    int leaf = 0;
};

// The bytes of an arena that no leaf has taken so far, as gaps in the order of addresses.
class untaken {
public:
    constexpr explicit untaken(std::int64_t bytes) {
        if (bytes == 0) return;
        gaps_.push({0, bytes, -1});
        first_ = 0;
    }

    constexpr std::int64_t lowest() const { return first_ < 0 ? INT64_MAX : gaps_[first_].begin; }

    // Takes what is left of the bytes [begin, end) for a leaf, and adds it to `got`.
    constexpr void take(std::int64_t begin, std::int64_t end, int leaf, vec<owned_bytes>& got) {
        int before = -1;
        for (int g = first_; g >= 0 && gaps_[g].begin < end; g = gaps_[g].next) {
            const gap free = gaps_[g];
            if (free.end <= begin) {
                before = g;
                continue;
            }
            const bool from_start = begin <= free.begin, to_end = end >= free.end;
            got.push({from_start ? free.begin : begin, to_end ? free.end : end, leaf});
            if (from_start && to_end) {
                (before < 0 ? first_ : gaps_[before].next) = free.next;
                continue;
            }
            if (!from_start && !to_end) gaps_.push({end, free.end, free.next});
            if (from_start)
                gaps_[g].begin = end;
            else
                gaps_[g].end = begin;
            if (!from_start && !to_end) gaps_[g].next = gaps_.size() - 1;
            before = g;
        }
    }

private:
    struct gap {
        std::int64_t begin = 0, end = 0;
        int next = -1;  // by address; -1: the last gap
    };
    vec<gap> gaps_;
    int first_ = -1;
};

// What of an address a key has room for beside an index.
inline constexpr int key_bits = 43;

constexpr vec<owned_bytes> by_bits_of_address(const vec<owned_bytes>& list, int shift) {
    vec<std::int64_t> keys(list.size(), unset{});
    for (int i = 0; i < list.size(); ++i)
        keys[i] = ((list[i].begin / ir::alignment >> shift & ((std::int64_t{1} << key_bits) - 1)) << item_bits) + i;
    sort(keys);
    vec<owned_bytes> sorted(list.size(), unset{});
    for (int i = 0; i < list.size(); ++i) sorted[i] = list[static_cast<int>(keys[i] & ((1 << item_bits) - 1))];
    return sorted;
}
constexpr vec<owned_bytes> by_address(const vec<owned_bytes>& list, std::int64_t bytes) {
    vec<owned_bytes> sorted = by_bits_of_address(list, 0);
    if (bytes / ir::alignment >> key_bits > 0) return by_bits_of_address(sorted, key_bits);
    return sorted;
}

// The first, or the last, owner of each byte of an arena in a run.
template <class Program>
constexpr vec<owned_bytes> takers(const Program& program, span<const int> defined, bool last, const ir::placement* place, bool host,
                                  std::int64_t bytes) {
    const ir::buffer* buffer = program.buffers.first;
    untaken free{bytes};
    vec<owned_bytes> got;
    // Mostly the first few buffers fill all of the arena.
    for (int i = 0; i < defined.count && free.lowest() < bytes; ++i) {
        const int b = defined.first[last ? defined.count - 1 - i : i];
        if (place[b].offset < 0 || buffer[b].slots > 1 || (buffer[b].where == ir::storage::host) != host) continue;
        const std::int64_t end = place[b].offset + ir::aligned(buffer[b].bytes);
        if (free.lowest() >= end || buffer[b].bytes == 0) continue;
        for (int l = buffer[b].first_leaf, more = l + buffer[b].leaves; l < more; ++l) {
            const ir::leaf& x = program.leaves.first[l];
            free.take(place[b].offset + x.begin, place[b].offset + ir::aligned(x.begin + x.bytes), l, got);
        }
    }
    return by_address(got, bytes);
}

// Before a leaf is defined, in as many runs as the buffer has slots, all that was done with it is over.
template <class Program>
constexpr void require_of_own(const Program& program, const basic_lifetimes<Program>& lives, int buffer, required_clocks& out) {
    const ir::buffer& x = program.buffers.first[buffer];
    for (int l = x.first_leaf, end = l + x.leaves; l < end; ++l)
        if (lives.definition_of(l) >= 0) out.add(lives.definition_of(l), x.slots, lives.release_of(l));
}

// Of leaves that share bytes the first one's definition waits for the accesses of the last one.
template <class Program>
constexpr void require_of_shared(const Program& program, const basic_lifetimes<Program>& lives, span<const int> defined,
                                 const ir::placement* place, bool host, std::int64_t bytes, required_clocks& out) {
    if (bytes == 0) return;
    const vec<owned_bytes> opening = takers(program, defined, false, place, host, bytes),
                           closing = takers(program, defined, true, place, host, bytes);
    for (int i = 0, j = 0; i < opening.size(); ++i) {
        while (j < closing.size() && closing[j].end <= opening[i].begin) ++j;
        for (int k = j; k < closing.size() && closing[k].begin < opening[i].end; ++k)
            out.add(lives.definition_of(opening[i].leaf), 1, lives.release_of(closing[k].leaf));
    }
}

// The first update of a state follows every access of the run before, a read above it the last update; reads below follow it.
template <class Program>
constexpr void require_of_states(const Program& program, const basic_issue_order<Program>& issued, const basic_lifetimes<Program>& lives,
                                 const ir::role_plan& role, required_clocks& out) {
    vec<int> last_write(program.buffers.count, -1);
    for (int pass = 0; pass < 2; ++pass)
        for (int s = role.first_step; s < role.first_step + role.steps; ++s)
            for (const ir::participation& participation :
                 program.participations.view().subspan(issued.steps[s].first_participation, issued.steps[s].participations))
                for (const ir::access& a : program.accesses.view().subspan(participation.first_access, participation.touches())) {
                    if (program.buffers[a.buffer].where != ir::storage::state) continue;
                    if (pass == 0) {
                        if (writes(a.mode)) last_write[a.buffer] = s;
                    } else if (lives.definition[a.buffer] > s) {
                        vector_clock need = {};
                        need.known[issued.steps[last_write[a.buffer]].stream] = issued.index_on_stream[last_write[a.buffer]] + 1;
                        out.add(s, 1, need);
                    }
                }
}

template <class Program>
constexpr vec<required_clock> required_clocks_of(const Program& program, const basic_issue_order<Program>& issued,
                                                 const basic_in_run<Program>& waits, const basic_lifetimes<Program>& lives,
                                                 const basic_assignment<Program>& memory, int r) {
    const auto& buffer = program.buffers.first;
    const ir::placement* places = memory.placements.begin();
    required_clocks wanted{issued, waits};
    bool states = false;
    const span<const int> defined = lives.defined.view().subspan(lives.first[r], lives.first[r + 1] - lives.first[r]);
    const auto& all = lives.defined.first;
    for (int d = lives.first[r]; d < lives.first[r + 1]; ++d) {
        const int b = all[d];
        const ir::storage where = buffer[b].where;
        if (buffer[b].slots == 1 && where != ir::storage::input && where != ir::storage::state) continue;
        require_of_own(program, lives, b, wanted);
        if (where == ir::storage::state) states = true;
    }
    require_of_shared(program, lives, defined, places, false, memory.roles[r].arena_bytes, wanted);
    require_of_shared(program, lives, defined, places, true, memory.roles[r].host_arena_bytes, wanted);
    if (states) require_of_states(program, issued, lives, memory.roles[r], wanted);
    return static_cast<vec<required_clock>&&>(wanted.list);
}

}  // namespace dovetail::pass::detail
