// Who holds which bytes of a role's memory, and who touched them last: the shadow of the replay. Memory is a row of
// cells, tiled by the buffers that took it last; taking it again costs the tiles it covers.
#pragma once

#include "places.hpp"

#include <bit>

namespace dovetail::plan::detail {

static_assert(lane_count == 3, "the clocks of the prover are written out for three lanes");

// How many of each lane's steps, over all unrolled runs, are known to be complete.
struct clock {
    int at[lane_count] = {};
};

// One slot of a buffer together with its in-place results. Steps are counted per lane over all unrolled runs.
struct record {
    int holder = -1;                          // the buffer whose value lies here
    int run = -1;                             // ... and of which run; of a state: its version
    int write = -1;
    int write_lane = 0;
    int read[lane_count] = {-1, -1, -1};      // the last read since, by lane
    int vertex = -1;                          // that wrote it
    bool intact = false;                      // nobody else has taken bytes of it

    // Everything that touched it happens before; `own` forgives one step of `lane`.
    constexpr bool before(const clock& now, int lane = 0, int own = 0) const {
        return write < now.at[write_lane] && read[0] < now.at[0] + (lane == 0 ? own : 0) && read[1] < now.at[1] + (lane == 1 ? own : 0) &&
               read[2] < now.at[2] + (lane == 2 ? own : 0);
    }
};

class tiles {
public:
    constexpr explicit tiles(int cells) : owner_(cells + 1, -1), end_(cells + 1), begins_((cells >> 6) + 1) {
        end_[0] = cells;
        begins_[0] = 1;
    }
    // The cells [low, high) become buffer b's. Calls f(owner) for each tile of another buffer that loses cells; f answers
    // whether to go on.
    template <class F>
    constexpr bool take(int b, int low, int high, F f) {
        int *owner = owner_.begin(), *end = end_.begin();
        unsigned long long* begins = begins_.begin();
        if ((begins[low >> 6] >> (low & 63) & 1) == 0) {
            const int before = begin_of(low);
            owner[low] = owner[before];
            end[low] = end[before];
            end[before] = low;
        }
        for (int at = low; at < high;) {
            const int o = owner[at], next = end[at];
            if (o >= 0 && o != b && !f(o)) return false;
            if (next > high) {
                owner[high] = o;
                end[high] = next;
                begins[high >> 6] |= 1ull << (high & 63);
            }
            begins[at >> 6] &= ~(1ull << (at & 63));
            at = next;
        }
        begins[low >> 6] |= 1ull << (low & 63);
        owner[low] = b;
        end[low] = high;
        return true;
    }

private:
    // The tile that a cell lies in.
    constexpr int begin_of(int cell) const {
        int word = cell >> 6;
        unsigned long long bits = begins_[word] & (~0ull >> (63 - (cell & 63)));
        while (bits == 0) bits = begins_[--word];
        return word * 64 + 63 - std::countl_zero(bits);
    }
    vec<int> owner_, end_;
    vec<unsigned long long> begins_;
};

}  // namespace dovetail::plan::detail
