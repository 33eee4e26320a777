// EXPECT: error::off_root_update
// SAYS: app::s
// SAYS: reduce<
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp, 4>>, dv::state<s, vector, ones>, dv::update<s, reduce<sum, dp, root_index<0>>(x)>,
                         dv::let<y, gelu(s)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
