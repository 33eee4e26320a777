// EXPECT: error::unknown_axis
// SAYS: app::tp
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::let<t, gelu(dv::axis_index<tp>)>, dv::output<t>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
