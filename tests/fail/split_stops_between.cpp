// EXPECT: error::split_stops
// SAYS: app::t
// SAYS: reduce_scatter<
#include "ops.hpp"

// A value between a reduce_scatter and the all_gather behind it is read outside of the split.
namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct model : dv::graph<dv::mesh<dv::axis<tp, 2>>, dv::input<x, blocks>,
                         dv::split<2, dv::let<t, reduce_scatter<sum, tp>(x)>, dv::let<y, all_gather<tp>(t)>>, dv::let<z, per_row(t)>,
                         dv::output<y, z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
