// EXPECT: error::no_such_tensor
// SAYS: app::z
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

using tensor = dv::plan::tensor_of<app::model, app::z>;
