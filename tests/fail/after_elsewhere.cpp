// EXPECT: error::after_elsewhere
// SAYS: app::t
// SAYS: app::w
#include "ops.hpp"

namespace app {
struct model : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<y, gelu(x)>>,
    dv::on<right, dv::let<z, relu(x)>>,
    dv::on<middle, dv::let<w, gelu(x)>>,
    dv::after<w, dv::let<t, all_reduce<sum>(y, z)>>,
    dv::output<t, w>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
