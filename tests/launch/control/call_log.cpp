// The latest calls of a rank, read by another thread while they are written.
#include <doctest/doctest.h>

#include <dovetail/launch/control/call_log.hpp>

#include <atomic>
#include <thread>

using namespace dovetail::control::detail;

TEST_CASE("the latest calls come with the number of the first, at most half of the window") {
    call_log log;
    CHECK(log.recent().executors.empty());
    for (int i = 0; i < 3 * static_cast<int>(call_window); ++i) {
        log.add(i * 7);
        const call_list c = log.recent();
        const std::int64_t known = static_cast<std::int64_t>(c.executors.size());
        CHECK(c.first + known == i + 1);
        CHECK(known == std::min<std::int64_t>(i + 1, call_window / 2));
        for (std::int64_t k = 0; k < known; ++k) CHECK(c.executors[static_cast<std::size_t>(k)] == (c.first + k) * 7);
    }
}

TEST_CASE("what is read while calls are added is a piece of them, or nothing") {
    call_log log;
    constexpr int count = 200'000;
    std::atomic<bool> over = false;
    std::thread rank{[&] {
        for (int i = 0; i < count; ++i) log.add(i);
        over = true;
    }};
    long wrong = 0;
    while (!over) {
        const call_list c = log.recent();
        for (std::size_t k = 0; k < c.executors.size(); ++k) wrong += c.executors[k] != c.first + static_cast<std::int64_t>(k);
    }
    rank.join();
    CHECK(wrong == 0);
    CHECK(log.recent().first == count - call_window / 2);
}
