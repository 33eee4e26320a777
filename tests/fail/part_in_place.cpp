// EXPECT: error::part_in_place
// SAYS: app::z
// SAYS: app::y
// SAYS: overwrite
#include "ops.hpp"

namespace app {
using block = dv::tensor<float, 64>;
using blocks = dv::tensor<float, 8, 64>;
struct model : dv::graph<dv::input<x, blocks>, dv::let<t, gelu(x)>, dv::let<y, overwrite(t)>, dv::let<s, gelu(x)>, dv::let<z, concat<y, s>>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
