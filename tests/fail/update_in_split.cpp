// EXPECT: error::update_in_split
// SAYS: app::s
// SAYS: app::per_element
// SAYS: statement<3>, dovetail::error::statement<2>
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct model : dv::graph<dv::input<x, blocks>, dv::state<s, blocks, ones>,
                         dv::split<2, dv::let<y, per_element(x)>, dv::update<s, per_element(s)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
