// EXPECT: error::too_many_ranks
// SAYS: app::tp
#include "ops.hpp"

namespace app {
struct dp;
struct tp;
struct model : dv::graph<dv::mesh<dv::axis<dp, 65536>, dv::axis<tp, 32768>>, dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
