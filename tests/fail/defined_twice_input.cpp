// EXPECT: error::defined_twice
// SAYS: app::x
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<x, gelu(x)>, dv::output<x>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
