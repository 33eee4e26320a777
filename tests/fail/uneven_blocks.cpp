// EXPECT: error::uneven_blocks
// SAYS: app::y
// SAYS: app::per_row
// SAYS: tensor<float, 8, 64
// SAYS: number<3>
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct model : dv::graph<dv::input<x, blocks>, dv::split<3, dv::let<y, per_row(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
