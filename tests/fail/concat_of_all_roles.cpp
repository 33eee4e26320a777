// EXPECT: error::part_elsewhere
// SAYS: app::z
// SAYS: app::w
#include "ops.hpp"

namespace app {
using block = dv::tensor<float, 64>;
using blocks = dv::tensor<float, 8, 64>;
struct model : dv::graph<dv::input<x, blocks>, dv::on<left, dv::let<y, gelu(x)>>, dv::on<right, dv::let<t, gelu(x)>, dv::let<s, gelu(x)>, dv::let<z, concat<w, s>>>, dv::let<w, all_reduce<sum>(y, t)>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
