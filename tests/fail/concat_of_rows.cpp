// EXPECT: error::not_a_part
// SAYS: app::z
// SAYS: rows<0, 2
#include "ops.hpp"

namespace app {
using block = dv::tensor<float, 64>;
using blocks = dv::tensor<float, 8, 64>;
struct model : dv::graph<dv::input<x, blocks>, dv::let<t, gelu(x)>, dv::let<z, concat<rows<0, 2>(x), t>>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
