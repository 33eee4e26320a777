// EXPECT: error::role_twice
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<y, gelu(x)>, dv::let<z, relu(x)>>, dv::let<t, all_reduce<sum>(y, z)>, dv::output<t>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
