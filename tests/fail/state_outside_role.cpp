// EXPECT: error::outside_role
// SAYS: app::s
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::state<s, vector, ones>, dv::on<left, dv::update<s, gelu(x)>>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
