// EXPECT: error::unused_role
// SAYS: app::right
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<y, gelu(x)>>,
                         dv::on<right, dv::mesh<dv::axis<dp, 2>>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
