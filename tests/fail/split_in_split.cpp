// EXPECT: error::split_in_split
// SAYS: split<4
// SAYS: split<2
// SAYS: statement<2>
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct model : dv::graph<dv::input<x, blocks>, dv::split<4, dv::let<t, per_row(x)>, dv::group<dv::split<2, dv::let<y, per_row(t)>>>>,
                         dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
