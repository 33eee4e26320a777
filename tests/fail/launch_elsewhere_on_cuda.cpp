// EXPECT: error::launch_mismatch
// SAYS: app::y
// SAYS: app::elsewhere
// SAYS: dovetail::cuda
#include "ops.hpp"

#include <dovetail/launch/executable/bind.hpp>

namespace app {
struct elsewhere : copy_of {
    template <class X>
    static void launch(dv::host::stream, dv::in<X>, dv::out<X>);
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, elsewhere(x)>, dv::output<y>> {};
}  // namespace app

auto& executable = dv::bound<app::model, dv::options<>, dv::cuda::stream>::value();
