// Sums by copy engines are rounded in one order: bitwise equal on all ranks and in all runs, of numbers whose sum depends on the order.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <doctest/doctest.h>

#include <cmath>

namespace dv = dovetail;

namespace {
namespace app {
using namespace dv::ops;
struct x; struct all; struct part; struct of_first; struct dp;
inline constexpr std::int64_t count = 840;
template <int N>
struct sums : dv::graph<
    dv::mesh<dv::axis<dp, N>>,
    dv::input<x, dv::tensor<float, count>>,
    dv::let<all, all_reduce<sum, dp>(x)>,
    dv::let<of_first, reduce<sum, dp, root_index<0>>(x)>,
    dv::let<part, all_gather<dp>(reduce_scatter<sum, dp>(x))>,
    dv::output<all, of_first, part>> {};
using by_copy_engines = dv::options<dv::collective_transport<dv::transport::peer_copy>, dv::in_flight<2>>;
}  // namespace app

using floats = std::vector<float>;

floats values(int rank) {
    floats v(app::count);
    for (int i = 0; i < app::count; ++i)
        v[static_cast<std::size_t>(i)] = std::sin(static_cast<float>(i * 7 + rank * 1001)) * std::exp2(static_cast<float>(rank * 3));
    return v;
}
// In the order of the ranks, beginning with one of them.
floats sum_from(int first, int ranks) {
    floats sums = values(first);
    for (int r = 1; r < ranks; ++r) {
        const floats more = values((first + r) % ranks);
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
    }
    return sums;
}

template <int N>
void check_sums() {
    const floats expected = sum_from(0, N);
    if (N > 2) CHECK(expected != sum_from(1, N));
    dv::host::world{N}.run([&](auto& rank) {
        dv::executor<app::sums<N>, app::by_copy_engines> step{rank};
        step.bind(dv::name<app::x>, values(rank.index()));
        for (int run = 0; run < 3; ++run) {
            const auto ticket = step.run();
            CHECK(ticket.read(dv::name<app::all>).host() == expected);
            CHECK(ticket.read(dv::name<app::part>).host() == expected);
            if (rank.index() == 0) CHECK(ticket.read(dv::name<app::of_first>).host() == expected);
        }
    });
}

}  // namespace

TEST_CASE("sums by copy engines are bitwise equal on two, three, four and eight ranks, and in all runs") {
    check_sums<2>();
    check_sums<3>();
    check_sums<4>();
    check_sums<8>();
}
