// EXPECT: error::not_a_state
// SAYS: app::y
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::update<y, relu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
