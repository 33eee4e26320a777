// Decisions: the inputs of the pipeline besides the graph and its options: which candidate schedule to use, and which rewrites to apply.
// Options may force a decision; the search (plan/search.hpp) makes the others.
#pragma once

namespace dovetail {

// A candidate schedule: how the order of tasks is found, and whether a rank runs it on one stream or on three. The candidates from
// `min_memory_overlapped` on are tried only if none before fits into the memory limit.
enum class candidate : unsigned char {
    sequential,             // written order, one stream
    written,                // written order, three streams
    listed,                 // list scheduling by critical path, three streams
    johnson,                // list scheduling by critical path and Johnson's rule, three streams
    min_memory_overlapped,  // an order of little memory; three streams if that is predicted to be faster
    min_memory,             // the same order, one stream
    listed_serial,          // the order of list scheduling, one stream
    automatic               // chosen by the search
};
inline constexpr int candidates = 7;

constexpr const char* name_of(candidate c) {
    constexpr const char* names[] = {"sequential", "written",       "listed",   "johnson", "min_memory_overlapped",
                                     "min_memory", "listed_serial", "automatic"};
    return names[static_cast<int>(c)];
}

// The rewrites of pass/rewrite/.
enum class rewrite : unsigned char {
    identity  // the same graph
};

constexpr const char* name_of(rewrite r) {
    switch (r) {
        case rewrite::identity: return "identity";
    }
    __builtin_unreachable();
}

// The rewrites that a graph goes through, in their order.
inline constexpr int most_rewrites = 4;
struct rewrite_list {
    rewrite kind[most_rewrites] = {};
    int count = 0;
};

}  // namespace dovetail
