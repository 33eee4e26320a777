// EXPECT: error::state_on_host
// SAYS: app::s
#include "ops.hpp"

namespace app {
struct model
    : dv::graph<dv::input<x, vector>, dv::state<s, vector, ones>, dv::update<s, to_host(s)>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
