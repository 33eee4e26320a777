// EXPECT: error::not_a_name
// SAYS: app::relu
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<relu, gelu(x)>, dv::output<relu>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
