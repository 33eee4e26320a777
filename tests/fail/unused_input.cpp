// EXPECT: error::unused
// SAYS: unused<app::w
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::input<w, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
