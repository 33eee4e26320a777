// The status of the ranks of a world of processes, and the message texts made of it.
#pragma once

#include "../error.hpp"
#include "../world/abort_reason.hpp"
#include "../world/mismatch.hpp"
#include "../world/world_options.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dovetail::control {

using launch::abort_reason;
using launch::activity;

// The position of a rank: the run and step for which its engine waits.
struct run_position {
    std::int64_t run = -1;
    std::int64_t step = -1;
};

// The last known status of a rank: at least a heartbeat old.
struct peer_status {
    std::string host;     // its name, for messages
    std::string machine;  // equal on ranks that share a host
    long process = 0;
    run_position at = {};
    activity doing;
    std::int64_t exchanges = 0;
    std::int64_t leaves = 0;
};

// A number of leaves that means: the rank has closed its channel.
inline constexpr std::int64_t left_for_good = std::int64_t{1} << 62;

namespace detail {

// The result of an exchange: the texts of all ranks, by rank, or a fault.
struct exchange_result {
    std::vector<std::string> texts;
    std::string fault;
};

// The executors that a rank has called last, beginning with call number `first`.
struct call_list {
    std::int64_t first = 0;  // never negative
    std::vector<std::int64_t> executors;
};
// Text if rank 0 and another rank have called different executors; empty if they have not, as far as both lists reach.
inline std::string different_call(const call_list& zero, const call_list& other, int rank) {
    const std::int64_t from = std::max(zero.first, other.first);
    const auto known = [&](const call_list& c) { return static_cast<std::int64_t>(c.executors.size()) - (from - c.first); };
    for (std::int64_t i = 0; i < std::min(known(zero), known(other)); ++i) {
        const auto a = zero.executors[static_cast<std::size_t>(from - zero.first + i)],
                   b = other.executors[static_cast<std::size_t>(from - other.first + i)];
        if (a != b) return launch::call_order_text(from + i, rank, b, 0, a);
    }
    return {};
}

// "rank 1, rank 3"; of many ranks, the first ones.
inline std::string list_of_ranks(const std::vector<int>& ranks) {
    constexpr std::size_t most = 32;
    std::string text;
    for (std::size_t i = 0; i < ranks.size() && i < most; ++i) text += (text.empty() ? "rank " : ", rank ") + std::to_string(ranks[i]);
    return ranks.size() <= most ? text : text + " and " + std::to_string(ranks.size() - most) + " more";
}

// The activity of each rank; the rank that is furthest behind comes first and is marked.
inline std::string progress_text(const std::vector<peer_status>& all, const std::vector<bool>& gone) {
    const auto before = [&](std::size_t a, std::size_t b) {
        return std::pair{all[a].at.run, all[a].at.step} < std::pair{all[b].at.run, all[b].at.step};
    };
    std::size_t last = 0, first = 0;
    for (std::size_t r = 1; r < all.size(); ++r) {
        if (before(r, last)) last = r;
        if (before(first, r)) first = r;
    }
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::size_t r = (last + i) % all.size();
        const peer_status& m = all[r];
        text += (i > 0 ? "; rank " : "rank ") + std::to_string(r) + (before(r, first) && !before(last, r) ? " is behind: " : ": ");
        text += gone[r]                 ? "has left"
                : !m.doing.text.empty() ? m.doing.text
                : m.at.run < 0          ? "no run"
                                        : "run " + std::to_string(m.at.run) + ", step " + std::to_string(m.at.step);
    }
    return text;
}

}  // namespace detail

}  // namespace dovetail::control
