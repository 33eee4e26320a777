// EXPECT: error::in_place_shared
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::let<z, overwrite(y)>, dv::output<z, y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
