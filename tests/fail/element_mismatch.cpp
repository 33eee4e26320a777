// EXPECT: error::shape_mismatch
// SAYS: tensor<double, 8>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::input<w, dv::tensor<double, 8>>, dv::let<y, plus(x, w)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
