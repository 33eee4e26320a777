// How many random graphs a test draws and from which seed: its arguments, else the environment, else the test's own numbers.
//   DOVETAIL_TEST_GRAPHS=N   graphs of the test that draws most, `fuzz`; others draw in proportion
//   DOVETAIL_TEST_SEED=S     the seed, 1 without it
//   DOVETAIL_TEST_ONLY=K     graph K alone
// Under a sanitizer it is a tenth.
#pragma once

#include "values.hpp"

#include <cstdlib>
#include <string_view>

namespace support {

inline constexpr long usual_graphs = 10'000;  // of `fuzz`

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

struct how_many {
    long count = 0;
    word seed = 1;
    long only = -1;  // one of them

    // `usual`: the number of this test where DOVETAIL_TEST_GRAPHS is not set, that is, where it would be usual_graphs.
    explicit how_many(long usual) : count{usual} {
        if (const char* n = std::getenv("DOVETAIL_TEST_GRAPHS")) count = std::strtol(n, nullptr, 10) * usual / usual_graphs;
        if (const char* s = std::getenv("DOVETAIL_TEST_SEED")) seed = std::strtoull(s, nullptr, 10);
        if (const char* k = std::getenv("DOVETAIL_TEST_ONLY")) only = std::strtol(k, nullptr, 10);
        if (sanitized) count /= 10;
        if (count < 1) count = 1;
    }
    // --count N --seed S --only K
    how_many(long usual, int size, char** arguments) : how_many{usual} {
        for (int i = 1; i + 1 < size; i += 2) {
            const std::string_view name = arguments[i];
            if (name == "--count") count = std::strtol(arguments[i + 1], nullptr, 10);
            else if (name == "--seed") seed = std::strtoull(arguments[i + 1], nullptr, 10);
            else if (name == "--only") only = std::strtol(arguments[i + 1], nullptr, 10);
        }
    }
    long first() const { return only >= 0 ? only : 0; }
    long last() const { return only >= 0 ? only + 1 : count; }
    word of(long graph) const { return mix(seed) + static_cast<word>(graph); }
};

}  // namespace support
