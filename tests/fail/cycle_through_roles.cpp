// EXPECT: error::cycle
// SAYS: cycle<app::y, app::z, app::y
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<y, plus(x, z)>>, dv::on<right, dv::let<z, gelu(y)>>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
