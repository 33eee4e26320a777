// EXPECT: error::off_root_read
// SAYS: app::t
#include "ops.hpp"

namespace app {
using block = dv::tensor<float, 64>;
using blocks = dv::tensor<float, 8, 64>;
struct model : dv::graph<dv::input<x, blocks>, dv::mesh<dv::axis<dp, 2>>, dv::let<t, reduce<sum, dp, root_index<0>>(x)>, dv::let<y, gelu(rows<0, 2>(t))>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
