// EXPECT: error::no_such_role
// SAYS: app::lefd
// SAYS: did_you_mean<app::left>
#include "ops.hpp"

namespace app {
struct lefd;
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<y, gelu(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::wait_count<app::model, app::lefd>;
