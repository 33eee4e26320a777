// EXPECT: error::mesh_mismatch
// SAYS: app::left
// SAYS: app::right
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::mesh<dv::axis<dp, 2>>, dv::let<y, gelu(x)>>, dv::on<right, dv::mesh<dv::axis<dp, 4>>, dv::let<z, gelu(y)>>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
