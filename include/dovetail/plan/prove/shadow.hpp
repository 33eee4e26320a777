// The owner of each byte of a role's memory and its last accesses: the shadow memory of the replay. Memory is a row of
// cells, tiled by the leaves that took it last; taking it again costs the tiles it covers.
#pragma once

#include "placement.hpp"

namespace dovetail::plan::detail {

static_assert(stream_count == 3, "the clocks of the prover are written out for three streams");

// The last accesses to one slot of a leaf, its in-place results included; a row of ints each, because the replay
// looks at one or two of them. Steps are counted per stream over all unrolled runs.
struct touches {
    static constexpr int write = stream_count;             // the step that wrote it
    static constexpr int write_stream = stream_count + 1;  // ... and its stream
    static constexpr int width = stream_count + 2;         // in front of them, by stream, the last step that wrote or read it

    vec<int> rows;
    // By row: which leaf's value of which run lies here, negative once others have taken bytes of it; 0: none. Of a state: its version.
    vec<int> value;

    constexpr touches() = default;
    constexpr explicit touches(int count) : rows(count * width, unset{}), value(count) {}
};

struct tiles {
    vec<int> owner;  // by cell where a tile begins; -1: none
    vec<int> end;    // ... and where it ends; -1 at all other cells
    vec<unsigned long long> begins;

    constexpr explicit tiles(int cells) : owner(cells + 1, -1), end(cells + 1, -1), begins((cells >> 6) + 1) {
        end[0] = cells;
        begins[0] = 1;
    }
    // The cells [low, high) become leaf b's. Calls f(owner) for each tile of another leaf that loses cells; f answers
    // whether to go on.
    template <class F>
    constexpr bool take(int b, int low, int high, F f) {
        if (end[low] < 0) {
            const int before = begin_of(low);
            begin(low, owner[before], end[before]);
            end[before] = low;
        }
        for (int at = low; at < high;) {
            const int o = owner[at], next = end[at];
            if (o >= 0 && !f(o)) return false;
            if (next > high) begin(high, o, next);
            end[at] = -1;
            begins[at >> 6] &= ~(1ull << (at & 63));
            at = next;
        }
        begin(low, b, high);
        return true;
    }

private:
    constexpr void begin(int cell, int o, int until) {
        owner[cell] = o;
        end[cell] = until;
        begins[cell >> 6] |= 1ull << (cell & 63);
    }
    // The tile that a cell lies in.
    constexpr int begin_of(int cell) const {
        int word = cell >> 6;
        unsigned long long bits = begins[word] & (~0ull >> (63 - (cell & 63)));
        while (bits == 0) bits = begins[--word];
        return word * 64 + 63 - __builtin_clzll(bits);
    }
};

}  // namespace dovetail::plan::detail
