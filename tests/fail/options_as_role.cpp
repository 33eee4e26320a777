// EXPECT: error::options_as_role
// SAYS: in_flight<2>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::peak_bytes<app::model, dv::options<dv::in_flight<2>>>;
