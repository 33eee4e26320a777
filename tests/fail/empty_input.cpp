// EXPECT: error::empty_input
// SAYS: app::x
// SAYS: tensor<float, 0>
#include "launched.hpp"

namespace app {
struct nothing : dv::graph<dv::input<x, dv::tensor<float, 7 / 8>>, dv::let<y, launched(x)>, dv::output<y>> {};
}  // namespace app

void program(dv::host::rank& rank) {
    dv::executor<app::nothing> step{rank};
    step.bind(dv::name<app::x>, std::array<float, 8>{});
}
