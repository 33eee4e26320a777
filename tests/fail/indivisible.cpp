// EXPECT: error::indivisible
// SAYS: tensor<float, 8>
// SAYS: number<3
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp, 3>>, dv::let<t, reduce_scatter<sum, dp>(x)>, dv::output<t>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
