// EXPECT: error::too_slow
// SAYS: number<1
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

static_assert(dv::predicted_time_at_most<app::model, 1>);
