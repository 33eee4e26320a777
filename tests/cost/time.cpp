// Amounts at a rate as picoseconds, against 128-bit arithmetic.
#include <doctest/doctest.h>

#include <dovetail/cost/time.hpp>

#include <cstdint>
#include <random>

using dovetail::cost_model::longest_duration;
using dovetail::cost_model::time_at;

namespace {

__extension__ typedef __int128 wide;

// Rounded down, and no longer than the longest.
std::int64_t exactly(std::int64_t amount, std::int64_t rate) {
    const wide time = wide{amount} * 1'000'000'000'000 / rate;
    return time < longest_duration ? static_cast<std::int64_t>(time) : longest_duration;
}

}  // namespace

TEST_CASE("nothing takes no time, nor does what has no known rate") {
    static_assert(time_at(0, 5) == 0 && time_at(5, 0) == 0 && time_at(-1, 5) == 0 && time_at(5, -1) == 0);
}

TEST_CASE("a time is exact where the rate is one of a machine, at every size") {
    std::mt19937_64 random{1};
    for (int i = 0; i < 100'000; ++i) {
        const std::int64_t amount = static_cast<std::int64_t>(random() >> (1 + random() % 60)) + 1;
        const std::int64_t rate = static_cast<std::int64_t>(random() % (INT64_MAX / 1000)) / (std::int64_t{1} << (random() % 50)) + 1;
        CAPTURE(amount);
        CAPTURE(rate);
        CHECK(time_at(amount, rate) == exactly(amount, rate));
    }
    CHECK(time_at(INT64_MAX, 1) == longest_duration);
    CHECK(time_at(350'000'000'000, 350'000'000'000) == 1'000'000'000'000);
}

TEST_CASE("a rate beyond all machines is right to a millionth") {
    for (const std::int64_t amount : {INT64_MAX, INT64_MAX / 3, INT64_MAX / 1000}) {
        const std::int64_t got = time_at(amount, INT64_MAX), wanted = exactly(amount, INT64_MAX);
        CHECK(got <= wanted + wanted / 1'000'000);
        CHECK(got >= wanted - wanted / 1'000'000);
    }
}
