// EXPECT: error::bad_pairs
// SAYS: permute<axis, pair<source, target>>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 3>>, dv::input<x, vector>, dv::let<y, permute<dp>(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
