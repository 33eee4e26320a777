// EXPECT: error::nothing_to_split
// SAYS: split<2>
// SAYS: statement<2>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::split<2>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
