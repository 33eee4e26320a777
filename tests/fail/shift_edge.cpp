// EXPECT: error::shift_edge
// SAYS: shift<axis, offset, zero_edge>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, vector>, dv::let<y, shift<dp, 1, z>(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
