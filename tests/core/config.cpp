// The version: one number that the preprocessor compares, and its text, against the three numbers.
#include <doctest/doctest.h>

#include <dovetail/core/config.hpp>

#include <string>

#if DOVETAIL_VERSION < 100
#error "0.1.0 is the first version that has this number"
#endif
#if DOVETAIL_VERSION >= (DOVETAIL_VERSION_MAJOR + 1) * 10000
#error "a later major version is a greater number"
#endif

TEST_CASE("the version is one number, major first") {
    static_assert(DOVETAIL_VERSION / 10000 == DOVETAIL_VERSION_MAJOR);
    static_assert(DOVETAIL_VERSION / 100 % 100 == DOVETAIL_VERSION_MINOR);
    static_assert(DOVETAIL_VERSION % 100 == DOVETAIL_VERSION_PATCH);
    static_assert(DOVETAIL_VERSION_MINOR < 100 && DOVETAIL_VERSION_PATCH < 100);
}

TEST_CASE("the text of the version has its three numbers") {
    CHECK(DOVETAIL_VERSION_STRING == std::to_string(DOVETAIL_VERSION_MAJOR) + "." + std::to_string(DOVETAIL_VERSION_MINOR) + "." +
                                         std::to_string(DOVETAIL_VERSION_PATCH));
}
