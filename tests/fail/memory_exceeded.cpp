// EXPECT: error::memory_exceeded
// SAYS: number<200
// SAYS: app::z
// SAYS: the_only_role
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::let<z, plus(y, x)>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::memory_limit<200>>>;
