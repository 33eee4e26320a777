// EXPECT: error::wrong_result_count
// SAYS: app::z
#include "ops.hpp"

namespace app {
using block = dv::tensor<float, 64>;
using blocks = dv::tensor<float, 8, 64>;
struct model : dv::graph<dv::input<x, blocks>, dv::let<y, gelu(x)>, dv::let<t, gelu(x)>, dv::let<dv::values<z, w>, concat<y, t>>, dv::output<z, w>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
