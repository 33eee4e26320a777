// EXPECT: error::bad_root
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp, 4>>, dv::let<t, reduce<sum, dp, root_index<4>>(x)>, dv::output<t>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
