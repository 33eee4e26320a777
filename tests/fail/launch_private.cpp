// EXPECT: error::launch_mismatch
// SAYS: app::hides_it
// SAYS: none that is public and accepts this backend's stream (third)
#include "launched.hpp"

namespace app {
class hides_it : public copy_of {
    template <class X>
    static void launch(dv::host::stream, dv::in<X>, dv::out<X>);
};
struct hidden : dv::graph<dv::input<x, vector>, dv::let<y, hides_it(x)>, dv::output<y>> {};
}  // namespace app

void program(dv::host::rank& rank) {
    dv::executor<app::hidden> step{rank};
    step.run();
}
