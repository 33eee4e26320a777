// EXPECT: error::unaligned_blocks
// SAYS: app::y
// SAYS: app::per_row
// SAYS: tensor<float, 8, 4
// SAYS: number<64>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, matrix>, dv::split<2, dv::let<y, per_row(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
