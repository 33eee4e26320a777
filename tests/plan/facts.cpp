// Facts to static_assert, on the graph of the design: three senders of 10000 x 10000 half blocks, a receiver that multiplies.
#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;

namespace app {
using namespace dv::ops;
struct value;
struct receiver;
template <int> struct sender;
template <int> struct block;
template <int> struct product;

using matrix = dv::tensor<dv::half, 10000, 10000>;

template <int I> using make = dv::on<sender<I>, dv::let<block<I>, fill<matrix>(value)>>;
template <int I> using use = dv::let<product<I>, matmul(block<I>, block<I>)>;

struct three_senders : dv::graph<
    dv::input<value, dv::scalar<float>>,
    dv::repeat<make, 3>,
    dv::on<receiver, dv::repeat<use, 3>>,
    dv::output<dv::all<3, product>>> {};

using h200 = dv::options<dv::machine::h200_nvlink>;
static_assert(dv::valid<three_senders>);
static_assert(dv::peak_bytes<three_senders, receiver, h200> < 1'500'000'000);
static_assert(dv::hidden_fraction<three_senders, h200> > 0.6);  // the first of three transfers cannot be hidden
static_assert(dv::wait_count<three_senders, receiver, h200> >= 3);

using bare = dv::graph<dv::input<value, matrix>, dv::let<block<0>, relu(value)>, dv::output<block<0>>>;
static_assert(dv::valid<bare>);
static_assert(dv::peak_bytes<bare, dv::unnamed_role, h200> == 200'000'000 / 256 * 256);

// A gradient that is missing, the same with the reduction.
struct weight;
struct gradient;
struct dp;
template <class Gradient>
using training = dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<value, matrix>,
    dv::state<weight, matrix, zeros, dv::replicated<dp>>,
    dv::let<gradient, Gradient>,
    dv::update<weight, add(weight, gradient)>>;
static_assert(!dv::valid<training<relu(value)>>);
static_assert(std::is_same_v<dv::plan::diagnose<training<relu(value)>>, dv::error::diverging_replicas<weight, dp>>);
static_assert(dv::valid<training<all_reduce<average, dp>(value)>>);

}  // namespace app

TEST_CASE("predictions of the design's example") {
    using P = dv::plan::planned<app::three_senders, app::h200>;
    CHECK(P::plan.overlapped);
    const double sequential = static_cast<double>(P::plan.predicted_sequential) / 1e9;
    const double overlapped = static_cast<double>(P::plan.predicted) / 1e9;
    MESSAGE("sequential ", sequential, " ms, overlapped ", overlapped, " ms");
    // Measured by hand on 4 x H200: one stream 10.1 to 10.2 ms, the bound of first transfer and three products 9.7 to 9.9 ms.
    CHECK(sequential > 9.0);
    CHECK(sequential < 11.5);
    CHECK(overlapped > 8.5);
    CHECK(overlapped < sequential);
}
