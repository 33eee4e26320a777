// EXPECT: error::not_a_name
// SAYS: app::relu
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::after<relu(x), dv::let<y, gelu(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
