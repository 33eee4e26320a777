// EXPECT: error::not_row_wise
// SAYS: app::y
// SAYS: app::gelu
// SAYS: statement<2>, dovetail::error::statement<1>
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct model : dv::graph<dv::input<x, blocks>, dv::split<2, dv::let<y, gelu(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
