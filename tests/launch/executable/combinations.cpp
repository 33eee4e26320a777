// Which compute members of a graph share one function, and the views with which it calls their operation.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executable/combinations.hpp>

#include <doctest/doctest.h>

#include <initializer_list>

namespace dv = dovetail;

namespace {
namespace app {
template <int> struct a;
template <int> struct b;
struct wide;
struct wide_b;
struct changed;
struct total;

using row = dv::tensor<float, 4>;
using wide_row = dv::tensor<float, 8>;

struct combine {
    static constexpr dv::tensor_type result(dv::tensor_type x, dv::tensor_type) { return x; }
    static constexpr std::int64_t workspace(dv::tensor_type, dv::tensor_type) { return 64; }
};
struct change {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x; }
    static constexpr bool in_place_only = true;
};
struct accumulate {
    static constexpr dv::tensor_type result(dv::tensor_type, dv::tensor_type y) { return y; }
    static constexpr int in_place = 1;
};

struct graph : dv::graph<
    dv::input<a<0>, row>, dv::input<a<1>, row>, dv::input<wide, wide_row>, dv::state<total, row, dv::from_store>,
    dv::let<b<0>, combine(a<0>, a<1>)>,
    dv::let<wide_b, combine(wide, wide)>,
    dv::let<b<1>, combine(a<1>, a<0>)>,
    dv::let<changed, change(b<0>)>,
    dv::update<total, accumulate(b<1>, total)>,
    dv::output<changed>, dv::output<wide_b>> {};
}  // namespace app

using combinations = dv::detail::combinations<app::graph, dv::options<>>;
using planned = dv::plan::planned<app::graph>;

// The combination of the operation whose first result has this name.
template <class Name>
int combination_of() {
    for (int m = 0; m < combinations::members; ++m) {
        const dv::ir::member& x = planned::program.members[m];
        if (x.kind == dv::op_kind::compute && x.symbol == dv::plan::symbol_of<app::graph, Name>) return combinations::of[m];
    }
    return -1;
}
struct expected {
    dv::access_mode mode;
    std::int64_t size;
};
template <class Views>
void check(const Views& views, std::initializer_list<expected> list) {
    REQUIRE(views.size() == static_cast<int>(list.size()));
    int i = 0;
    for (const expected& e : list) {
        CHECK(views[i].mode == e.mode);
        CHECK(views[i++].type.size() == e.size);
    }
}
using mode = dv::access_mode;
}  // namespace

TEST_CASE("calls of one operation on tensors of the same types share a function, and others do not") {
    CHECK(combinations::count == 4);
    CHECK(combination_of<app::b<0>>() == combination_of<app::b<1>>());
    CHECK(combination_of<app::b<0>>() != combination_of<app::wide_b>());
    for (int m = 0; m < combinations::members; ++m)
        CHECK((combinations::of[m] >= 0) == (planned::program.members[m].kind == dv::op_kind::compute));
}

TEST_CASE("an operation gets views of its arguments and results, and none of its workspace") {
    const auto& call = combinations::calls[combination_of<app::b<0>>()];
    check(call.views, {{mode::read, 4}, {mode::read, 4}, {mode::write, 4}});
    check(call.beside, {});
    check(combinations::calls[combination_of<app::wide_b>()].views, {{mode::read, 8}, {mode::read, 8}, {mode::write, 8}});
}

TEST_CASE("an operation that works in place only gets one view of what it changes") {
    check(combinations::calls[combination_of<app::changed>()].views, {{mode::update, 4}});
}

TEST_CASE("an update is called with its target as one view, or, if the operation declares that, as an argument and a result") {
    const auto& call = combinations::calls[combination_of<app::total>()];
    check(call.views, {{mode::read, 4}, {mode::update, 4}});
    check(call.beside, {{mode::read, 4}, {mode::read, 4}, {mode::write, 4}});
    CHECK(call.beside[1].access == call.beside[2].access);
}
