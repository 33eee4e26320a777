// EXPECT: error::role_as_value
// SAYS: app::left
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<y, gelu(x)>>, dv::output<left>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
