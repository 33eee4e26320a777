// The thread that looks after a rank: it calls once at the end of the work, again and again before, and never after its own end.
#include <doctest/doctest.h>

#include <dovetail/launch/world/watchdog.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

using dovetail::launch::watchdog;
using namespace std::chrono_literals;

namespace {

bool comes(auto&& what) {
    for (int i = 0; i < 1000; ++i, std::this_thread::sleep_for(10ms))
        if (what()) return true;
    return false;
}

}  // namespace

TEST_CASE("the end of the work is told once, however often it is said, and periods go on") {
    std::atomic<int> ends = 0, periods = 0;
    {
        watchdog dog{[&] { ++ends; }, [&] { ++periods; }};
        CHECK(comes([&] { return periods > 0; }));
        CHECK(ends == 0);
        dog.stop();
        dog.stop();
        CHECK(comes([&] { return ends == 1; }));
        dog.stop();
        const int before = periods;
        CHECK(comes([&] { return periods > before; }));
    }
    CHECK(ends == 1);
    const int last = periods;
    std::this_thread::sleep_for(300ms);
    CHECK(periods == last);
}

TEST_CASE("what a call throws ends nothing") {
    std::atomic<int> periods = 0;
    watchdog dog{[] { throw 1; },
                 [&] {
                     ++periods;
                     throw std::runtime_error{"dropped"};
                 }};
    dog.stop();
    CHECK(comes([&] { return periods > 1; }));
}

TEST_CASE("its end does not wait for a period") {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) watchdog{[] {}, [] {}};
    CHECK(std::chrono::steady_clock::now() - start < 5s);  // 50 periods are 10 seconds
}
