// EXPECT: error::nothing_to_decompose
// SAYS: decompose<dovetail::let<app::y
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<tp, 2>>, dv::input<x, vector>, dv::decompose<dv::let<y, gelu(x)>>,
                         dv::let<z, all_reduce<sum, tp>(y)>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
