// Decisions: the inputs of the pipeline besides the graph and its options: which candidate schedule to use, and which rewrites to apply.
// Options may force a decision; the search (plan/search.hpp) makes the others.
#pragma once

#include "../core/vocabulary.hpp"

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
    booked_400,
    booked_600,
    booked_800,
    min_memory,     // the order of little memory, one stream
    listed_serial,  // the order of list scheduling, one stream
    automatic       // chosen by the search
};
inline constexpr int candidates = static_cast<int>(candidate::automatic);

// The budget of a candidate that has one, in hundredths; 0: it has none.
constexpr int budget_of(candidate c) {
    if (c < candidate::booked_100 || c > candidate::booked_800) return 0;
    constexpr int percent[] = {100, 112, 125, 150, 175, 200, 250, 300, 400, 600, 800};
    return percent[static_cast<int>(c) - static_cast<int>(candidate::booked_100)];
}

constexpr const char* name_of(candidate c) {
    constexpr const char* names[] = {"sequential", "written",    "listed",     "johnson",    "booked_100",    "booked_112",
                                     "booked_125", "booked_150", "booked_175", "booked_200", "booked_250",    "booked_300",
                                     "booked_400", "booked_600", "booked_800", "min_memory", "listed_serial", "automatic"};
    static_assert(sizeof names / sizeof *names == candidates + 1);
    return names[static_cast<int>(c)];
}

// The rewrites that a graph goes through: first those that its statements ask for, then a list of others, in their order.
inline constexpr int most_rewrites = 4;
inline constexpr int all_kept = INT32_MAX;
struct rewrite_list {
    rewrite kind[most_rewrites] = {};
    int count = 0;
    bool stated = false;       // whether statements of the graph ask for some
    bool everywhere = false;   // whether what can be split is, also where no statement asks for it
    int blocks = 1;            // of each split whose number is automatic, but for those that the next member makes smaller
    std::uint64_t halved = 0;  // two bits for each such split, in the order of regions: how many times its number is halved
    int kept = all_kept;       // the collectives that `keep` leaves out, at most: those of each statement, or of the graph
    // Collectives of so many bytes or more, of argument or result, are moved by copy engines, where `collectives` leaves that open.
    transport collectives = transport::automatic;
    std::int64_t copied_from = INT64_MAX;
    unsigned copied_axes = 0, nccl_axes = 0;  // of the graph, as masks: options say what moves collectives along these
    bool automatic = false;                   // the search adds to the list what gains
    bool decided = false;                     // ... has been made

    friend constexpr bool operator==(const rewrite_list&, const rewrite_list&) = default;

    static constexpr int most_halved = 32;
    constexpr int blocks_of(int split) const {
        const int number = blocks >> (split < most_halved ? static_cast<int>(halved >> 2 * split & 3u) : 0);
        return number > 0 ? number : 1;
    }
    constexpr bool has(rewrite r) const {
        for (int i = 0; i < count; ++i)
            if (kind[i] == r) return true;
        return false;
    }
};

// A list with these rewrites. They are not among the designated initialisers: nvcc's front end loses an array of an empty pack there.
template <rewrite... Kind>
constexpr rewrite_list with_kinds(rewrite_list list) {
    ((list.kind[list.count++] = Kind), ...);
    return list;
}

// A list with the transport of collectives of another one.
constexpr rewrite_list with_transport_of(const rewrite_list& other, rewrite_list list) {
    list.collectives = other.collectives;
    list.copied_from = other.copied_from;
    return list;
}

}  // namespace dovetail
