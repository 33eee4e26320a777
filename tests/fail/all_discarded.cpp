// EXPECT: error::all_discarded
// SAYS: app::halves
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<dv::values<dv::discard, dv::discard>, halves(x)>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
