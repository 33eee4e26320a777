// EXPECT: at most 16 inputs from host memory
// SAYS: host_inputs<
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
using inputs = dv::host_inputs<x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x>;
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<app::inputs>>;
