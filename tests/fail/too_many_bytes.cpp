// EXPECT: error::too_many_bytes
// SAYS: number<256>
// SAYS: number<255>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

static_assert(dv::peak_bytes_at_most<app::model, 256>);
static_assert(dv::peak_bytes_at_most<app::model, 255>);
