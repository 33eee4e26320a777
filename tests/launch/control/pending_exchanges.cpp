// The exchanges that rank 0 keeps open: when each ends, and what it may cost.
#include <doctest/doctest.h>

#include <dovetail/launch/control/pending_exchanges.hpp>

using namespace dovetail::control;
using namespace dovetail::control::detail;

TEST_CASE("an exchange is over when all ranks have brought their text, whoever brings more than one") {
    pending_exchanges all{3};
    CHECK_FALSE(all.add({0, 1, "the id", "a"}));
    const auto twice = all.add({0, 1, "the id", "b"});
    REQUIRE(twice);
    CHECK(twice->fault == "rank 1 sends two texts for the id");
    CHECK(twice->texts.empty());
    CHECK_FALSE(all.add({0, 1, "the id", "c"}));
    CHECK_FALSE(all.add({0, 0, "the id", "d"}));
    CHECK_FALSE(all.add({0, 2, "the id", "e"}));  // it has failed

    for (const int r : {2, 0}) CHECK_FALSE(all.add({1, r, "the next", std::to_string(r)}));
    const auto end = all.add({1, 1, "the next", "1"});
    REQUIRE(end);
    CHECK(end->fault.empty());
    CHECK(end->texts == std::vector<std::string>{"0", "1", "2"});
}

TEST_CASE("exchanges that are never complete stay few, and what they bring together has a limit") {
    pending_exchanges all{2};
    int faults = 0;
    for (int i = 0; i < 1000; ++i)
        if (const auto end = all.add({i, 1, "x", "y"})) faults += end->fault == "the ranks have more than 64 exchanges open" ? 1 : 0;
    CHECK(faults == 1000 - static_cast<int>(pending_exchanges::most_open));

    pending_exchanges large{20};
    std::optional<exchange_result> end;
    for (int r = 0; r < 20 && !end; ++r) end = large.add({0, r, "x", std::string(longest_contribution, 'y')});
    REQUIRE(end);
    CHECK(end->fault == "the ranks send more than 134217728 bytes for x");
}
