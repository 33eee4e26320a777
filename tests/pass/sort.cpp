// Sorting of keys against the standard library's: every length around the widths of the merge, equal keys, the least and greatest.
#include <doctest/doctest.h>

#include <dovetail/pass/sort.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace dv = dovetail;

namespace {

constexpr bool sorts_while_compiling() {
    dv::vec<std::int64_t> keys;
    for (const int k : {3, -1, 2, 2, 0}) keys.push(k);
    dv::pass::detail::sort(keys);
    for (int i = 1; i < keys.size(); ++i)
        if (keys[i - 1] > keys[i]) return false;
    return keys.size() == 5;
}
static_assert(sorts_while_compiling());

}  // namespace

TEST_CASE("keys come in ascending order") {
    std::mt19937_64 random{1};
    for (int size = 0; size < 200; ++size)
        for (const std::int64_t range : {std::int64_t{3}, std::int64_t{1000}, INT64_MAX}) {
            dv::vec<std::int64_t> keys;
            std::vector<std::int64_t> expected;
            for (int i = 0; i < size; ++i) {
                std::int64_t key = static_cast<std::int64_t>(random()) % range;
                if (range == INT64_MAX && i < 2) key = i == 0 ? INT64_MIN : INT64_MAX;
                keys.push(key);
                expected.push_back(key);
            }
            dv::pass::detail::sort(keys);
            std::sort(expected.begin(), expected.end());
            CHECK(std::vector<std::int64_t>(keys.begin(), keys.end()) == expected);
        }
}
