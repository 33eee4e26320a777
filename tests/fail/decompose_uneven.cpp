// EXPECT: error::decompose_uneven
// SAYS: app::y
// SAYS: all_reduce<
// SAYS: tensor<float, 8>
// SAYS: number<3
#include "ops.hpp"

namespace app {
struct model
    : dv::graph<dv::mesh<dv::axis<tp, 3>>, dv::input<x, vector>, dv::decompose<dv::let<y, all_reduce<sum, tp>(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
