// EXPECT: error::mesh_twice
// SAYS: app::tp
#include "ops.hpp"

namespace app {
struct dp;
struct tp;
struct model : dv::graph<dv::mesh<dv::axis<dp>>, dv::input<x, vector>, dv::let<y, gelu(x)>, dv::mesh<dv::axis<dp>, dv::axis<tp, 2>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
