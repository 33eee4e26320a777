// Compares the texts of ranks that must agree, and makes the message if they do not; the same for every backend.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dovetail::launch {

// Every text is "key name". Empty if all keys are equal; otherwise the ranks that differ. The key of most ranks counts as correct; of
// equally many, that of the lowest rank.
inline std::string mismatch(const std::vector<std::string>& all) {
    const auto key_of = [&](std::size_t r) { return std::string_view{all[r]}.substr(0, all[r].find(' ')); };
    const auto named = [&](std::size_t r) { return std::to_string(r) + " (" + all[r].substr(all[r].find(' ') + 1) + ")"; };
    std::map<std::string_view, int> held;
    for (std::size_t r = 0; r < all.size(); ++r) ++held[key_of(r)];
    std::size_t right = 0;
    for (std::size_t r = 1; r < all.size(); ++r)
        if (held[key_of(r)] > held[key_of(right)]) right = r;
    std::string text;
    for (std::size_t r = 0; r < all.size(); ++r)
        if (key_of(r) != key_of(right)) text += (text.empty() ? "rank " : ", rank ") + named(r);
    return text.empty() ? text : text + " against rank " + named(right);
}

// The message if two ranks issue the same run, counted over the executors that communicate, with different executors.
inline std::string call_order_text(std::int64_t run, int rank, std::int64_t executor, int other_rank, std::int64_t other_executor) {
    return "executors are called in different order: run number " + std::to_string(run) + " of rank " + std::to_string(rank) +
           " is executor " + std::to_string(executor) + ", of rank " + std::to_string(other_rank) + " executor " +
           std::to_string(other_executor);
}

}  // namespace dovetail::launch
