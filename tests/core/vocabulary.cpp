// The words that every layer shares: their names, how accesses combine, and the sum of costs.
#include <doctest/doctest.h>

#include <dovetail/core/vocabulary.hpp>

#include <string>

namespace dv = dovetail;

TEST_CASE("reductions and streams have the names that explain and errors print") {
    CHECK(dv::name_of(dv::reduction::none) == std::string{"none"});
    CHECK(dv::name_of(dv::reduction::sum) == std::string{"sum"});
    CHECK(dv::name_of(dv::reduction::product) == std::string{"product"});
    CHECK(dv::name_of(dv::reduction::minimum) == std::string{"minimum"});
    CHECK(dv::name_of(dv::reduction::maximum) == std::string{"maximum"});
    CHECK(dv::name_of(dv::reduction::average) == std::string{"average"});
    CHECK(dv::name_of(dv::stream_kind::compute) == std::string{"compute"});
    CHECK(dv::name_of(dv::stream_kind::communication) == std::string{"comm"});
    CHECK(dv::name_of(dv::stream_kind::copy) == std::string{"copy"});
    static_assert(dv::stream_count == static_cast<int>(dv::stream_kind::copy) + 1);
}

TEST_CASE("an update reads and writes, the others do one of both") {
    using enum dv::access_mode;
    static_assert(dv::reads(read) && !dv::writes(read));
    static_assert(!dv::reads(write) && dv::writes(write));
    static_assert(dv::reads(update) && dv::writes(update));
}

TEST_CASE("costs add up, at the rate of the one that computes") {
    constexpr dv::cost copied = dv::bytes_moved(100), halves = dv::floating_operations(7, dv::element::float16);
    for (const dv::cost sum : {copied + halves, halves + copied}) {
        CHECK(sum.flops == 7);
        CHECK(sum.bytes == 100);
        CHECK(sum.arithmetic == dv::element::float16);
    }
    CHECK((halves + dv::floating_operations(1, dv::element::float64)).arithmetic == dv::element::float16);
}

TEST_CASE("a shape rule gives up to sixteen results, in order") {
    constexpr dv::results two{dv::tensor<float, 2, 3>::type, dv::tensor<std::int32_t>::type};
    static_assert(two.count == 2 && dv::results{}.count == 0);
    constexpr dv::tensor_type t = dv::tensor<float, 2>::type;
    constexpr dv::results most{t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, dv::scalar<float>::type};
    static_assert(most.count == 16 && most.list[14] == t && most.list[15].rank == 0);
    CHECK(two.list[0].size() == 6);
    CHECK(two.list[1].type == dv::element::int32);
    static_assert(dv::accepted(dv::operation{}) && !dv::accepted(dv::no_operation));
}
