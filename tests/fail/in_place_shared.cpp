// EXPECT: error::in_place_shared
// SAYS: app::z
// SAYS: app::y
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::let<z, overwrite(y)>, dv::let<t, relu(y)>, dv::output<z, t>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
