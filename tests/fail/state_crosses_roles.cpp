// EXPECT: error::state_crosses_roles
// SAYS: app::s
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::state<s, vector, ones>, dv::update<s, plus(s, x)>>, dv::on<right, dv::let<y, gelu(s)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
