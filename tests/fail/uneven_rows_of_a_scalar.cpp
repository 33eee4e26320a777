// EXPECT: error::uneven_rows
// SAYS: rows<0, 1
#include "ops.hpp"

namespace app {
using block = dv::tensor<float, 64>;
using blocks = dv::tensor<float, 8, 64>;
struct model : dv::graph<dv::input<x, dv::scalar<float>>, dv::let<y, gelu(rows<0, 1>(x))>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
