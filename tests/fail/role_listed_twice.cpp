// EXPECT: error::role_listed_twice
// SAYS: app::right
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::roles<left, right, right>, dv::on<left, dv::let<y, gelu(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
