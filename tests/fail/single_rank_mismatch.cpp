// EXPECT: error::single_rank_mismatch
// SAYS: app::left
// SAYS: app::right
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::mesh<dv::axis<dp, 2>>, dv::let<y, gelu(x)>>, dv::on<right, dv::let<z, gelu(x)>>, dv::output<y, z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<dv::single_rank<app::model>>;
