// EXPECT: error::cycle
// SAYS: cycle<
// SAYS: app::y
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::state<s, vector, ones>, dv::update<s, gelu(y)>, dv::let<y, plus(x, s)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
