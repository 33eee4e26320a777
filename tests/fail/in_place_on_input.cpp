// EXPECT: error::in_place_shared
// SAYS: app::x
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<z, overwrite(x)>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
