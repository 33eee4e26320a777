// EXPECT: error::axis_as_value
// SAYS: app::dp
// SAYS: axis_index<axis>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp>>, dv::input<x, vector>, dv::let<y, plus(x, dp)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
