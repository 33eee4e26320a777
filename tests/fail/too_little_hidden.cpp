// EXPECT: error::too_little_hidden
// SAYS: number<0>
// SAYS: number<50>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, vector>, dv::let<y, all_reduce<sum, dp>(x)>, dv::output<y>> {};
}  // namespace app

static_assert(dv::hidden_percent_at_least<app::model, 0>);
static_assert(dv::hidden_percent_at_least<app::model, 50>);
