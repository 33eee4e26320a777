// Compares the texts of ranks that must agree, and makes the message if they do not; the same for every backend.
#pragma once

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

}  // namespace dovetail::launch
