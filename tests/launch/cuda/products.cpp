// Matrix products by cuBLAS on the simulated GPU: results equal to the host's, and the number of multiprocessors that an operation
// declares.
#include "support/simulated_cuda.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;

namespace products {

using namespace dv::ops;
struct a; struct b; struct c; struct d;
struct on_sixteen : matmul {
    static constexpr int sms = 16;
};
struct two : dv::graph<
    dv::input<a, dv::tensor<float, 3, 5>>,
    dv::input<b, dv::tensor<float, 5, 2>>,
    dv::let<c, matmul(a, b)>,
    dv::let<d, on_sixteen(a, b)>,
    dv::output<c, d>> {};

template <class Rank>
std::vector<std::vector<float>> play(Rank& rank) {
    dv::executor<two> step{rank};
    std::vector<float> left, right;
    for (int i = 0; i < 15; ++i) left.push_back(static_cast<float>(i % 4));
    for (int i = 0; i < 10; ++i) right.push_back(static_cast<float>(i % 3));
    step.bind(dv::name<a>, left).bind(dv::name<b>, right);
    const auto t = step.run();
    return {t.read(dv::name<c>).host(), t.read(dv::name<d>).host()};
}

}  // namespace products

TEST_CASE("an operation's multiprocessors reach cuBLAS, and only its own product") {
    const simulated::scope simulation;
    std::vector<std::vector<float>> wanted, got;
    dv::host::world{1}.run([&](auto& rank) { wanted = products::play(rank); });
    simulated::here().sms_of_products.clear();
    dv::cuda::world::local(1).run([&](auto& rank) { got = products::play(rank); });
    CHECK(got == wanted);
    const auto& told = simulated::here().sms_of_products;
    CHECK(std::count(told.begin(), told.end(), 16) > 0);
    CHECK(std::count(told.begin(), told.end(), 16) == std::count(told.begin(), told.end(), 0));
    CHECK(std::count(told.begin(), told.end(), 16) * 2 == static_cast<std::ptrdiff_t>(told.size()));
}
