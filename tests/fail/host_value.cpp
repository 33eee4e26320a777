// EXPECT: error::host_value
// SAYS: app::x
// SAYS: app::y
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector, dv::pinned>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
