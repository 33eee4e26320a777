// What is said of several ranks: who is missing, who is behind, and who has called executors in another order.
#include <doctest/doctest.h>

#include <dovetail/launch/control/peer_status.hpp>

using namespace dovetail::control;
using namespace dovetail::control::detail;

TEST_CASE("calls are compared wherever their lists begin") {
    CHECK(different_call({0, {1, 2, 3}}, {1, {2, 3, 4}}, 1).empty());
    CHECK(different_call({0, {1, 2, 3}}, {1, {2, 4}}, 5) ==
          "executors are called in different order: run number 2 of rank 5 is executor 4, of rank 0 executor 3");
    CHECK(different_call({INT64_MAX, {1}}, {0, {2, 3}}, 1).empty());
    CHECK(different_call({INT64_MAX, {1, 1, 1}}, {INT64_MAX - 1, {1, 1, 1}}, 1).empty());
    CHECK(different_call({}, {}, 1).empty());
}

TEST_CASE("of many ranks the first are named") {
    CHECK(list_of_ranks({}) == "");
    CHECK(list_of_ranks({1, 3}) == "rank 1, rank 3");
    std::vector<int> many;
    for (int r = 0; r < 1000; ++r) many.push_back(r);
    const std::string text = list_of_ranks(many);
    CHECK(text.size() < 400);
    CHECK(text.substr(text.size() - 12) == "and 968 more");
}

TEST_CASE("who is furthest behind comes first and is said to be; nobody is where all are at one place") {
    const auto at = [](std::int64_t run, std::int64_t step, const std::string& doing = {}) {
        peer_status m;
        m.at = {run, step};
        m.doing.text = doing;
        return m;
    };
    CHECK(progress_text({at(4, 1), at(3, 7, "waits"), at(4, 0)}, {false, false, true}) ==
          "rank 1 is behind: waits; rank 2: has left; rank 0: run 4, step 1");
    CHECK(progress_text({at(2, 2), at(2, 2)}, {false, false}) == "rank 0: run 2, step 2; rank 1: run 2, step 2");
    CHECK(progress_text({at(-1, -1), at(0, 0)}, {false, false}) == "rank 0 is behind: no run; rank 1: run 0, step 0");
}
