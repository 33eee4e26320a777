// EXPECT: error::bad_pairs
// SAYS: app::tp
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 3>>, dv::input<x, vector>, dv::let<y, permute<dp, pair<0, 1>, tp>(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
