// EXPECT: error::mesh_twice
// SAYS: link
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, vector>,
                         dv::let<y, gelu(x)>, dv::mesh<dv::axis<dp, 2, dv::link::network>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
