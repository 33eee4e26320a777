// EXPECT: error::argument_of_no_role
// SAYS: app::t
// SAYS: app::x
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<y, gelu(x)>>, dv::let<t, all_reduce<sum>(x, y)>, dv::output<t>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
