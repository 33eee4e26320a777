// EXPECT: error::unaligned_rows
// SAYS: app::y
// SAYS: rows<1, 2
// SAYS: tensor<float, 8, 4
// SAYS: number<64
#include "ops.hpp"

namespace app {
using block = dv::tensor<float, 64>;
using blocks = dv::tensor<float, 8, 64>;
struct model : dv::graph<dv::input<x, matrix>, dv::let<y, gelu(rows<1, 2>(x))>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
