// What stands around the reference's operation: a namespace, the body of its call on the host, a graph that uses the operation `scale` and
// an executor that launches it.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>

#include <cstdlib>
#include <vector>

namespace dv = dovetail;

namespace app {
#include "readme_block"

template <class X>
void scale::launch(dv::host::stream, dv::in<X> x, dv::out<X> y) {
    for (long i = 0; i < X::size; ++i) y[i] = 2 * x[i];
}

struct x;
struct y;
using vector = dv::tensor<float, 64>;
struct model : dv::graph<dv::input<x, vector>, dv::let<y, scale(x)>, dv::output<y>> {};
static_assert(dv::valid<model>);
}  // namespace app

int main() {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<app::model> step{rank};
        step.bind(dv::name<app::x>, std::vector<float>(app::vector::size, 3));
        if (step.run().read(dv::name<app::y>).host() != std::vector<float>(app::vector::size, 6)) std::abort();
    });
}
