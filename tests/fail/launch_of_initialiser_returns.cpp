// EXPECT: error::launch_returns
// SAYS: app::starts
#include "launched.hpp"

namespace app {
struct starts {
    template <class X>
    static bool launch(dv::host::stream, dv::out<X>);
};
struct started : dv::graph<dv::input<x, vector>, dv::state<s, vector, starts>, dv::let<y, launched(x)>, dv::let<z, launched(s)>, dv::output<y, z>> {};
}  // namespace app

void program(dv::host::rank& rank) {
    dv::executor<app::started> step{rank};
    step.run();
}
