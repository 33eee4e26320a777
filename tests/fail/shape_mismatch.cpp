// EXPECT: error::shape_mismatch
// SAYS: app::y
// SAYS: tensor<float, 8>
// SAYS: tensor<float, 8, 4>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::input<w, matrix>, dv::let<y, plus(x, w)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
