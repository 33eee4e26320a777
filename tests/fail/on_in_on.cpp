// EXPECT: error::on_in_on
// SAYS: app::right
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::on<right, dv::let<y, gelu(x)>>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
