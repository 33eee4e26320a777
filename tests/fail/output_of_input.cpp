// EXPECT: error::output_not_a_value
// SAYS: app::x
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y, x>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
