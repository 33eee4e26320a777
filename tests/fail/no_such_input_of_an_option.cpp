// EXPECT: error::no_such_input
// SAYS: app::w
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<z, relu(x)>, dv::let<y, gelu(z)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::host_inputs<app::x, app::w>>>;
