// EXPECT: error::not_by_copy_engines
// SAYS: moved_by<
// SAYS: let<app::z
// SAYS: one host
// The second collective crosses the network.
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2, dv::link::network>, dv::axis<tp, 2>>, dv::input<x, vector>,
                         dv::moved_by<dv::transport::peer_copy, dv::let<y, all_reduce<sum, tp>(x)>, dv::let<z, all_reduce<sum, dp>(y)>>,
                         dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
