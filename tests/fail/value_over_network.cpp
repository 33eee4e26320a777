// EXPECT: error::value_over_network
// SAYS: app::y
// SAYS: link_between_roles
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::moved_by<dv::transport::peer_copy, dv::let<y, gelu(x)>>>,
                         dv::on<right, dv::let<z, gelu(y)>>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::link_between_roles<dv::link::network>>>;
