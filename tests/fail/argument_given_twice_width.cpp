// EXPECT: error::argument_given_twice
// SAYS: app::dp
#include "launched.hpp"

namespace app {
struct dp;
struct tp;
struct on_axes : dv::graph<dv::mesh<dv::axis<dp>, dv::axis<tp>>, dv::input<x, vector>, dv::let<y, launched(x)>, dv::output<y>> {};
}  // namespace app

void program(dv::host::rank& rank) {
    dv::executor<app::on_axes> step{rank, dv::width<app::dp>(2), dv::width<app::tp>(2), dv::width<app::dp>(3)};
}
