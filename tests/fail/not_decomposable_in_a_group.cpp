// EXPECT: error::not_decomposable
// SAYS: app::y
// SAYS: all_reduce<
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<tp, 2>>, dv::input<x, vector>, dv::decompose<dv::nccl_group<dv::let<y, all_reduce<sum, tp>(x)>>>,
                         dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
