// EXPECT: error::decompose_uneven
// SAYS: app::y
// SAYS: all_reduce<
// SAYS: tensor<float>
// SAYS: number<2
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<tp, 2>>, dv::input<x, dv::scalar<float>>, dv::decompose<dv::let<y, all_reduce<sum, tp>(x)>>,
                         dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
