// EXPECT: error::axis_not_by_copy_engines
// SAYS: app::z
// The second collective is along both axes.
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>, dv::axis<tp, 2>>, dv::input<x, vector>, dv::let<y, all_gather<tp>(x)>,
                         dv::let<z, all_reduce<sum, dp, tp>(y)>, dv::output<z>> {};
}  // namespace app

using options = dv::options<dv::axis_transport<dv::transport::nccl, app::dp>, dv::axis_transport<dv::transport::peer_copy, app::tp>>;
constexpr auto planned = dv::predicted_time<app::model, options>;
