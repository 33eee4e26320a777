// EXPECT: error::cycle
// SAYS: cycle<app::forward, app::gradient, app::forward
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<forward, plus(x, gradient)>, dv::let<gradient, gelu(forward)>, dv::output<gradient>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
