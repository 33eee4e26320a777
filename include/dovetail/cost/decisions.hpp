// Decisions: the inputs of the pipeline besides the graph and its options: which candidate schedule to use, and which rewrites to apply.
// Options may force a decision; the search (plan/search.hpp) makes the others.
#pragma once

namespace dovetail {

// A candidate schedule: how the order of tasks is found, and whether a rank runs it on one stream or on three. Those from `booked_100`
// on are planned only under a memory limit into which the fastest plan does not fit.
enum class candidate : unsigned char {
    sequential,  // written order, one stream
    written,     // written order, three streams
    listed,      // list scheduling by critical path, three streams
    johnson,     // list scheduling by critical path and Johnson's rule, three streams
    booked_100,  // list scheduling within a budget of live bytes, three streams: 100 % of the peak of an order of little memory
    booked_112,  // 112 %, and so on
    booked_125,
    booked_150,
    booked_175,
    booked_200,
    booked_250,
    booked_300,
    min_memory,     // the order of little memory, one stream
    listed_serial,  // the order of list scheduling, one stream
    automatic       // chosen by the search
};
inline constexpr int candidates = 14;

// The budget of a candidate that has one, in hundredths; 0: it has none.
constexpr int budget_of(candidate c) {
    if (c < candidate::booked_100 || c > candidate::booked_300) return 0;
    constexpr int percent[] = {100, 112, 125, 150, 175, 200, 250, 300};
    return percent[static_cast<int>(c) - static_cast<int>(candidate::booked_100)];
}

constexpr const char* name_of(candidate c) {
    constexpr const char* names[] = {"sequential", "written",    "listed",     "johnson",       "booked_100",
                                     "booked_112", "booked_125", "booked_150", "booked_175",    "booked_200",
                                     "booked_250", "booked_300", "min_memory", "listed_serial", "automatic"};
    return names[static_cast<int>(c)];
}

// The rewrites of pass/rewrite/.
enum class rewrite : unsigned char {
    identity,  // the same graph
    bucket     // small collectives of equal slack in one NCCL group
};

constexpr const char* name_of(rewrite r) {
    switch (r) {
        case rewrite::identity: return "identity";
        case rewrite::bucket: return "bucket";
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
