// EXPECT: error::launch_returns
// SAYS: app::tells
// SAYS: int
#include "launched.hpp"

namespace app {
struct tells : copy_of {
    template <class X>
    static int launch(dv::host::stream, dv::in<X>, dv::out<X>);
};
struct telling : dv::graph<dv::input<x, vector>, dv::let<y, tells(x)>, dv::output<y>> {};
}  // namespace app

void program(dv::host::rank& rank) {
    dv::executor<app::telling> step{rank};
    step.run();
}
