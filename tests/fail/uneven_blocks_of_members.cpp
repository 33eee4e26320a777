// EXPECT: error::uneven_blocks
// SAYS: app::t
// SAYS: reduce_scatter<
// SAYS: tensor<float, 2, 64
// SAYS: number<4>
#include "ops.hpp"

// Each block of two rows is scattered over four ranks.
namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct model : dv::graph<dv::mesh<dv::axis<tp, 4>>, dv::input<x, blocks>,
                         dv::split<4, dv::let<t, reduce_scatter<sum, tp>(x)>, dv::let<y, all_gather<tp>(t)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
