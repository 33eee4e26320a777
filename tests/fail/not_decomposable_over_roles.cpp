// EXPECT: error::not_decomposable
// SAYS: app::t
// SAYS: all_reduce<
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<y, gelu(x)>>, dv::on<right, dv::let<z, gelu(x)>>,
                         dv::decompose<dv::let<t, all_reduce<sum>(y, z)>>, dv::output<t>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
