// The workloads of which one collective is beside a product, and a layer of experts, measured and printed as those of workloads.cpp.
#include "bench/workloads_measure.hpp"

#include <doctest/doctest.h>

namespace {
using namespace workloads;

constexpr auto bind_nothing = [](auto&, const inputs&) {};
constexpr auto bind_square = [](auto& step, const inputs& in) { step.bind(dv::name<app::x<0>>, in.square.bound()); };
constexpr auto bind_tokens = [](auto& step, const inputs& in) { step.bind(dv::name<app::x<0>>, in.slope.bound()); };

template <int Ranks>
void measure_beside_products() {
    measure<Ranks, app::gather<Ranks>, app::gather_alone<Ranks>>("all_gather of 64 MiB a rank beside a product", bind_square);
    measure<Ranks, app::small<Ranks>, app::small_alone<Ranks>>("all_reduce of 10000 x 1000 floats beside a product of 1000", bind_nothing);
}
}  // namespace

TEST_CASE("a collective beside a product") { measure_beside_products<2>(), measure_beside_products<4>(); }
TEST_CASE("experts") { measure<2, app::experts<0>, app::experts_alone<0>>("a layer of experts", bind_tokens); }
