// One graph in two translation units: one plan, one set of names, and executors in both.
#include "model.hpp"

#include <doctest/doctest.h>

odr::facts seen_by_the_second();
float run_by_the_second();

TEST_CASE("two units share one plan") {
    const odr::facts a = odr::here(), b = seen_by_the_second();
    CHECK(a.plan == b.plan);
    CHECK(a.program == b.program);
    CHECK(a.tag == b.tag);
    CHECK(a.predicted == b.predicted);
    CHECK(a.peak == b.peak);
    CHECK(a.hash_of_name == b.hash_of_name);
}

TEST_CASE("both run it") {
    CHECK(odr::run() == 5.0f);  // 4 of the product of ones, and 1
    CHECK(run_by_the_second() == 5.0f);
}
