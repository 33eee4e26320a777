// EXPECT: error::decompose_uneven
// SAYS: app::y
// SAYS: all_reduce<
// SAYS: tensor<float, 2, 64>
// SAYS: number<4
#include "ops.hpp"

// Four ranks divide eight rows, but not the two rows of a block.
namespace app {
using rows_of_values = dv::tensor<float, 8, 64>;
struct model : dv::graph<dv::mesh<dv::axis<tp, 4>>, dv::input<x, rows_of_values>,
                         dv::decompose<dv::split<4, dv::let<y, all_reduce<sum, tp>(x)>>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
