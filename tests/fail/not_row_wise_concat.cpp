// EXPECT: error::not_row_wise
// SAYS: app::y
// SAYS: concat<
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct model : dv::graph<dv::input<x, blocks>, dv::split<2, dv::let<s, per_row(x)>, dv::let<t, per_row(x)>, dv::let<y, concat<s, t>>>,
                         dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
