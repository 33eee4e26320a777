// EXPECT: error::shape_mismatch
// SAYS: app::z
// SAYS: concat
// SAYS: tensor<float, 64
// SAYS: tensor<float, 8, 64
#include "ops.hpp"

namespace app {
using block = dv::tensor<float, 64>;
using blocks = dv::tensor<float, 8, 64>;
struct model : dv::graph<dv::input<x, blocks>, dv::input<w, block>, dv::let<y, gelu(x)>, dv::let<t, gelu(w)>, dv::let<z, concat<y, t>>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
