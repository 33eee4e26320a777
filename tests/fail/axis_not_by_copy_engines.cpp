// EXPECT: error::axis_not_by_copy_engines
// SAYS: app::z
// SAYS: axis_transport
// The second collective crosses the network.
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2, dv::link::network>, dv::axis<tp, 2>>, dv::input<x, vector>,
                         dv::let<y, all_gather<tp>(x)>, dv::let<z, all_reduce<sum, dp>(y)>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::axis_transport<dv::transport::peer_copy, app::dp, app::tp>>>;
