// EXPECT: error::role_not_listed
// SAYS: app::right
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::roles<left>, dv::on<left, dv::let<y, gelu(x)>>,
                         dv::on<right, dv::let<z, gelu(x)>>, dv::output<y, z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
