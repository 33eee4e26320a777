// EXPECT: between 1 and 64 runs in flight
// SAYS: in_flight<0
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::in_flight<0>>>;
