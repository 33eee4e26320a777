// EXPECT: these decisions are not as dovetail_plan
// SAYS: decided_rewrites<0
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::decided_rewrites<0, 0, false, 0>>>;
