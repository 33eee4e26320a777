// EXPECT: error::in_place_shared
// SAYS: app::z
// SAYS: overwrite
#include "ops.hpp"

namespace app {
using block = dv::tensor<float, 64>;
using blocks = dv::tensor<float, 8, 64>;
struct model : dv::graph<dv::input<x, blocks>, dv::let<y, gelu(x)>, dv::let<z, overwrite(rows<0, 2>(y))>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
