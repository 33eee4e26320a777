// EXPECT: error::uninitialised
// SAYS: app::s
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::state<s, vector>, dv::let<y, plus(x, s)>, dv::update<s, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
