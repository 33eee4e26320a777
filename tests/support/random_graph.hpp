// Valid graphs from a seed: `random_graph(seed, knobs)` draws one of what the knobs allow; `random_knobs` draws the knobs, from small
// graphs, which reduce quickly, to many roles, many ranks and many statements.
#pragma once

#include "sketch.hpp"

#include <string>

namespace support {

// What may occur in a graph.
struct knobs {
    int roles = 4;
    int least_roles = 1;
    int axes = 2;
    int least_axes = 0;
    int width = 3;
    int least_width = 1;
    int ranks = 16;          // at most
    int exactly = 0;         // ... or exactly so many
    int nodes_low = 3;
    int nodes_high = 22;
    int runs = 4;
    int in_flight = 3;
    int slots = 2;
    int extent = 256;        // elements of a tensor, at most
    bool types = true;       // other elements than uint64, scalars, tensors of two extents
    bool states = true;
    bool collectives = true;
    bool effects = true;
    bool nccl_groups = true;
    bool folding = true;
    bool open = false;       // axes of open width: plans are for any, and runs need to know it (with_widths)
    bool limits = true;      // memory limits
    bool views = true;       // rows of values, and values made of parts
    bool idle = true;        // roles without statements
    bool awaits = true;      // statements that start after values which are no arguments of theirs
    bool repeats = false;    // collectives that take what others take
    std::string prefix = {};         // of names
    const sketch* beside = nullptr;  // a graph whose states this one may share
};

sketch random_graph(word seed, const knobs& k = {});

// Of all sizes: mostly small, with a few roles and ranks; then up to 32 roles, up to four axes, up to 128 ranks; one in five hundred has
// more than 256 operations.
knobs random_knobs(word seed);

}  // namespace support
