// Kernels beside communication are loaded before the first run, on the simulated GPU: each operation is launched once when its executor
// is made, whatever the number of its uses, unless it has an effect. Without communication nothing can be held up by loading.
#include "support/expect.hpp"
#include "support/simulated_cuda.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace dv = dovetail;

namespace warm_up_test {

using namespace dv::ops;
struct dp;
struct x; struct y; struct z; struct w; struct total;
using vector = dv::tensor<float, 8>;

template <bool Effect>
struct counted {
    static inline thread_local int launches = 0;  // on the rank's thread
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    static constexpr bool has_effect = Effect;
    template <class X>
    static void launch(dv::cuda::stream, dv::in<X>, dv::out<X>) {
        ++launches;
    }
};
using plain = counted<false>;
using effect = counted<true>;
struct alone : dv::graph<dv::input<x, vector>, dv::let<y, plain(x)>, dv::let<z, plain(y)>, dv::let<w, effect(z)>, dv::output<w>> {};
struct together : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp>>, dv::let<y, plain(x)>, dv::let<z, plain(y)>, dv::let<w, effect(z)>,
                            dv::let<total, all_reduce<sum, dp>(w)>, dv::output<total>> {};

// Launches of both operations when the executor is made, and at the first run.
template <class G>
void check(int ranks, int when_made) {
    const simulated::scope simulation;
    dv::cuda::world::local(ranks).run([&](auto& rank) {
        plain::launches = effect::launches = 0;
        dv::executor<G> step{rank};
        const int made[] = {plain::launches, effect::launches};
        step.bind(dv::name<x>, std::vector<float>(8)).run().wait();
        const int run[] = {plain::launches, effect::launches};
        const std::lock_guard lock{support::report()};
        CHECK(made[0] == when_made);
        CHECK(made[1] == 0);
        CHECK(run[0] == when_made + 2);
        CHECK(run[1] == 1);
    });
}

}  // namespace warm_up_test
using namespace warm_up_test;

TEST_CASE("an operation beside communication is launched once before the first run, one with an effect is not") {
    check<together>(2, 1);
    check<alone>(1, 0);
}
