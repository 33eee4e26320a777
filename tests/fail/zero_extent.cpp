// EXPECT: error::zero_extent
// SAYS: app::y
// SAYS: tensor<float, 0>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::input<z, dv::tensor<float, 7 / 8>>, dv::let<y, plus(x, z)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
