// EXPECT: error::no_launch
// SAYS: app::y
// SAYS: app::gelu
// SAYS: dovetail::host
#include "launched.hpp"

namespace app {
struct planned_only : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

void program(dv::host::rank& rank) {
    dv::executor<app::planned_only> step{rank};
    step.run();
}
