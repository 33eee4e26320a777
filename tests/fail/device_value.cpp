// EXPECT: error::device_value
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, from_host(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
