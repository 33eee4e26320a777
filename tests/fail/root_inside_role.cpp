// EXPECT: error::collective_inside_role
// SAYS: app::t
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<y, gelu(x)>, dv::let<t, broadcast<to<right>>(y)>>, dv::on<right, dv::let<z, gelu(t)>>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
