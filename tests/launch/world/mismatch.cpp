// The sentence where ranks have brought different plans: what most have is taken for the right one.
#include <doctest/doctest.h>

#include <dovetail/launch/world/mismatch.hpp>

using dovetail::launch::mismatch;

TEST_CASE("ranks that agree by their keys say nothing, whatever their words") {
    CHECK(mismatch({}).empty());
    CHECK(mismatch({"1 a"}).empty());
    CHECK(mismatch({"1 a", "1 b", "1 a"}).empty());
}

TEST_CASE("those that differ from most are named, with their words") {
    CHECK(mismatch({"1 a", "2 b", "1 a"}) == "rank 1 (b) against rank 0 (a)");
    CHECK(mismatch({"2 odd one", "1 a", "1 a", "3 c"}) == "rank 0 (odd one), rank 3 (c) against rank 1 (a)");
    CHECK(mismatch({"1 a", "12 a"}) == "rank 1 (a) against rank 0 (a)");  // a key is not a prefix of another
}

TEST_CASE("of equal numbers the lowest rank's is the right one") {
    CHECK(mismatch({"2 b", "1 a", "1 a", "2 b"}) == "rank 1 (a), rank 2 (a) against rank 0 (b)");
}
