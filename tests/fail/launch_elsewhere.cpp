// EXPECT: error::launch_mismatch
// SAYS: app::y
// SAYS: app::elsewhere
// SAYS: dovetail::host
#include "ops.hpp"

#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>

namespace app {
struct elsewhere : copy_of {
    template <class X>
    static void launch(dv::cuda::stream, dv::in<X>, dv::out<X>);
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, elsewhere(x)>, dv::output<y>> {};
}  // namespace app

void program(dv::host::rank& rank) {
    dv::executor<app::model> step{rank};
    step.run();
}
