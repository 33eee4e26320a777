// EXPECT: error::after_of_another_statement
// SAYS: app::x
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::after<x, dv::output<y>>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
