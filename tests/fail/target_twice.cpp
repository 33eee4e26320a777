// EXPECT: error::target_twice
// SAYS: pair<2, 1>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 3>>, dv::input<x, vector>, dv::let<y, permute<dp, pair<0, 1>, pair<2, 1>>(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
