// EXPECT: error::not_a_part
// SAYS: app::z
// SAYS: app::y
#include "ops.hpp"

namespace app {
using block = dv::tensor<float, 64>;
using blocks = dv::tensor<float, 8, 64>;
struct model : dv::graph<dv::input<x, blocks>, dv::let<y, gelu(x)>, dv::let<t, gelu(x)>, dv::let<z, concat<y, t>>, dv::output<y, z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
