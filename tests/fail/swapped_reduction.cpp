// EXPECT: error::swapped_reduction
// SAYS: app::y
// SAYS: reduce_scatter<app::dp, dovetail::ops::sum>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, vector>, dv::let<y, reduce_scatter<dp, sum>(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
