// Decisions: what the pipeline is told beside the graph and its options. Which candidate gives the schedule, and which rewrites the
// graph goes through. Options may force them; the search (plan/search.hpp) makes those that are left open.
#pragma once

namespace dovetail {

// How the order of a plan is found, and on how many streams of a rank it runs. Each keeps every dependency. Those from
// `min_memory_overlapped` on are tried only where none before keeps within a memory limit.
enum class candidate : unsigned char {
    sequential,             // one stream, as written
    written,                // overlapped, as written
    listed,                 // overlapped, by list scheduling
    min_memory_overlapped,  // an order chosen for little memory, overlapped where that gains
    min_memory,             // the same on one stream
    listed_serial,          // the order of list scheduling on one stream
    automatic               // the search decides
};
inline constexpr int candidates = 6;

constexpr const char* name_of(candidate c) {
    constexpr const char* names[] = {"sequential", "written", "listed", "min_memory_overlapped", "min_memory", "listed_serial", "automatic"};
    return names[static_cast<int>(c)];
}

// Rewrites of the graph, see pass/rewrite/.
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
