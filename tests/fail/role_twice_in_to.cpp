// EXPECT: error::role_twice
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<y, gelu(x)>>, dv::on<right, dv::let<z, gelu(t)>>, dv::let<t, broadcast<to<right, right>>(y)>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
