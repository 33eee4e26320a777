// EXPECT: error::axis_twice
// SAYS: app::dp
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp, 4>, dv::axis<dp, 2>>, dv::let<t, gelu(x)>, dv::output<t>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
