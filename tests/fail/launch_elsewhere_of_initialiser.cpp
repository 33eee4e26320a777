// EXPECT: error::launch_mismatch
// SAYS: app::on_gpus
// SAYS: dovetail::host
#include "ops.hpp"

#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>

namespace app {
struct launched : copy_of {
    template <class X>
    static void launch(dv::host::stream, dv::in<X>, dv::out<X>);
};
struct on_gpus {
    template <class X>
    static void launch(dv::cuda::stream, dv::out<X>);
};
struct model : dv::graph<dv::state<s, vector, on_gpus>, dv::let<y, launched(s)>, dv::output<y>> {};
}  // namespace app

void program(dv::host::rank& rank) { dv::executor<app::model> step{rank}; }
