// EXPECT: error::launch_mismatch
// SAYS: app::of_doubles
// SAYS: tensor<float, 8>
#include "ops.hpp"

#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>

namespace app {
struct of_doubles : copy_of {
    static void launch(dv::host::stream, dv::in<dv::tensor<double, 8>>, dv::out<dv::tensor<double, 8>>);
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, of_doubles(x)>, dv::output<y>> {};
}  // namespace app

void program(dv::host::rank& rank) { dv::executor<app::model> step{rank}; }
