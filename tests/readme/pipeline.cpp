// What stands around the reference's pipeline: names, and a run of it on threads that changes the weights of every stage.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <cstdlib>
#include <utility>
#include <vector>

namespace dv = dovetail;

namespace app {
using namespace dv::ops;
template <int> struct stage;
template <int> struct w;
template <int> struct dw;
template <int> struct goal;
template <int, int> struct y;
template <int, int> struct dy;
struct rate;
using matrix = dv::tensor<float, 4, 4>;
template <int M> using samples = dv::group<dv::input<y<0, M>, matrix>, dv::input<goal<M>, matrix>>;

#include "readme_block"

template <class Step, int... M>
void bind(Step& step, std::integer_sequence<int, M...>) {
    step.bind(dv::name<rate>, 0.5f);
    (step.bind(dv::name<y<0, M>>, std::vector<float>(16, 1.0f)), ...);
    (step.bind(dv::name<goal<M>>, std::vector<float>(16, 100.0f)), ...);
}
template <int C, class Rank, class Step>
void expect_changed(Rank& rank, Step& step) {
    if (!rank.is(dv::name<stage<C>>)) return;
    const std::vector<float> before = step.read_state(dv::name<w<C>>);
    step.run().wait();
    if (step.read_state(dv::name<w<C>>) == before) std::abort();
}
}  // namespace app

int main() {
    dv::host::world world{4};
    world.run([](auto& rank) {
        dv::executor<app::training, dv::options<dv::machine::h200_nvlink>> step{rank};
        app::bind(step, std::make_integer_sequence<int, 8>{});
        app::expect_changed<0>(rank, step);
        app::expect_changed<1>(rank, step);
        app::expect_changed<2>(rank, step);
        app::expect_changed<3>(rank, step);
    });
}
