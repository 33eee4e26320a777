// EXPECT: error::no_such_output
// SAYS: app::z
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<z, relu(x)>, dv::let<y, gelu(z)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_ready_time<app::model, app::z>;
