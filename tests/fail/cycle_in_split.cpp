// EXPECT: error::cycle
// SAYS: app::y
// SAYS: app::z
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct model : dv::graph<dv::input<x, blocks>, dv::split<2, dv::let<y, per_row(z)>, dv::let<z, per_row(y)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
