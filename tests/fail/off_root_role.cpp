// EXPECT: error::off_root_read
// SAYS: app::t
// SAYS: app::w
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<y, gelu(x)>>, dv::on<right, dv::let<z, relu(x)>, dv::let<w, gelu(t)>>, dv::let<t, reduce<sum, root<left>>(y, z)>, dv::output<w>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
