// EXPECT: error::no_such_block
// SAYS: app::y
// SAYS: rows<0, 0
#include "ops.hpp"

namespace app {
using block = dv::tensor<float, 64>;
using blocks = dv::tensor<float, 8, 64>;
struct model : dv::graph<dv::input<x, blocks>, dv::let<y, gelu(rows<0, 0>(x))>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
