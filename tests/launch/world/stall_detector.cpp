// Whether a rank's communication stands still: not while its words move, nor where nothing is open.
#include <doctest/doctest.h>

#include <dovetail/launch/world/stall_detector.hpp>

#include <memory>
#include <thread>

using namespace dovetail::launch;
using namespace std::chrono_literals;

namespace {

// A rank whose run 0 has one communication, step 2, that has not ended.
std::shared_ptr<progress> waiting(const std::uint32_t* words) {
    auto p = std::make_shared<progress>();
    p->graph = "`g`";
    p->steps = {{"f", "x"}, {"g", "y"}, {"all_reduce", "z"}};
    p->communication = {{2}};
    p->words = words;
    p->issued = 0;
    return p;
}

}  // namespace

TEST_CASE("what stands still for longer than the limit is named, once it was seen twice") {
    std::uint32_t word = 0;
    stall_detector detector;
    CHECK(detector.look().still == 0ns);  // nothing is shown
    detector.show(waiting(&word), 30ms);
    CHECK(detector.look().still == 0ns);
    std::this_thread::sleep_for(50ms);
    const auto found = detector.look();
    CHECK(found.still >= 50ms);
    CHECK(found.too_long);
    CHECK(found.limit == 30ms);
    CHECK(found.doing.text == "has not ended operation `all_reduce` of `z` (run 0 of `g`)");
    CHECK(found.doing.statement == "z");
}

TEST_CASE("a step, a new run, or an end starts the time anew") {
    std::uint32_t word = 0;
    const auto rank = waiting(&word);
    stall_detector detector;
    detector.show(rank, 1h);
    detector.look();
    std::this_thread::sleep_for(5ms);
    const auto within = detector.look();
    CHECK(within.still >= 5ms);
    CHECK(!within.too_long);
    word = 2;  // step 1 is behind it
    CHECK(detector.look().still == 0ns);
    std::this_thread::sleep_for(5ms);
    CHECK(detector.look().still >= 5ms);
    word = 3;  // the communication itself
    CHECK(detector.look().still == 0ns);
    std::this_thread::sleep_for(5ms);
    CHECK(detector.look().still == 0ns);  // nothing is open
    detector.show(rank, 1h);
    CHECK(detector.look().still == 0ns);
}
