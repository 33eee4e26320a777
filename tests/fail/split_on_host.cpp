// EXPECT: error::split_on_host
// SAYS: app::y
// SAYS: to_host
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct model : dv::graph<dv::input<x, blocks>, dv::split<2, dv::let<t, per_row(x)>, dv::let<y, to_host(t)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
