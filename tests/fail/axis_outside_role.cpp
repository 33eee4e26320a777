// EXPECT: error::axis_outside_role
// SAYS: app::t
// SAYS: app::dp
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, vector>, dv::on<left, dv::let<y, gelu(x)>>, dv::let<t, all_reduce<sum, dp>(y)>, dv::output<t>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
