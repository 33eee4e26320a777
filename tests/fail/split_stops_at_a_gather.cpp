// EXPECT: error::split_stops
// SAYS: app::y
// SAYS: gather<app::tp, 
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct model : dv::graph<dv::mesh<dv::axis<tp, 2>>, dv::input<x, blocks>,
                         dv::split<2, dv::let<t, per_row(x)>, dv::let<y, gather<tp, root_index<0>>(t)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
