// EXPECT: error::not_a_name
// SAYS: app::gelu
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y, gelu>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
