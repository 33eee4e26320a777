// EXPECT: error::unaligned_rows
// SAYS: app::z
// SAYS: tensor<float, 8
// SAYS: number<32
#include "ops.hpp"

namespace app {
using block = dv::tensor<float, 64>;
using blocks = dv::tensor<float, 8, 64>;
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::let<t, gelu(x)>, dv::let<z, concat<y, t>>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
