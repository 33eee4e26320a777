// EXPECT: error::not_row_wise
// SAYS: app::y
// SAYS: rows<1, 2
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct model : dv::graph<dv::input<x, blocks>, dv::split<2, dv::let<y, per_row(rows<1, 2>(x))>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
