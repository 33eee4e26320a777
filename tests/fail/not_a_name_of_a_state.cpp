// EXPECT: error::not_a_name
// SAYS: app::gelu
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::state<s, vector, ones>, dv::update<gelu, relu(x)>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
