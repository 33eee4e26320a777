// EXPECT: error::not_a_role
// SAYS: repeat the on
// SAYS: app::worker
#include "ops.hpp"

namespace app {
template <int> struct worker;
struct model : dv::graph<dv::input<x, vector>, dv::on<dv::all<3, worker>, dv::let<y, gelu(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
