// EXPECT: error::outside_role
// SAYS: app::z
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<y, gelu(x)>>, dv::let<z, relu(y)>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
