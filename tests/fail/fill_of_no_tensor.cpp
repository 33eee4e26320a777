// EXPECT: error::shape_mismatch
// SAYS: dovetail::ops::fill<int>
#include "ops.hpp"

#include <dovetail/ops/ops.hpp>

namespace app {
struct model : dv::graph<dv::input<x, dv::scalar<float>>, dv::let<y, fill<int>(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
