// EXPECT: error::nothing_to_bucket
// SAYS: bucket<4096>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::bucket<4096>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
