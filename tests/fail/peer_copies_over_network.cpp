// EXPECT: error::peer_copies_over_network
// SAYS: link_between_roles
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<y, gelu(x)>>, dv::on<right, dv::let<z, gelu(y)>>, dv::output<z>> {};
}  // namespace app

using options = dv::options<dv::channel_transport<dv::transport::peer_copy>, dv::link_between_roles<dv::link::network>>;
constexpr auto planned = dv::predicted_time<app::model, options>;
