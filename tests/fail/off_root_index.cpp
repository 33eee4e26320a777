// EXPECT: error::off_root_read
// SAYS: app::y
// SAYS: app::z
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp, 4>>, dv::let<y, reduce<sum, dp, root_index<0>>(x)>, dv::let<z, gelu(y)>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
