// EXPECT: error::open_width
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp>>, dv::let<t, all_gather<dp>(x)>, dv::output<t>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
