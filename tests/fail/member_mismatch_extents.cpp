// EXPECT: error::member_mismatch
// SAYS: tensor<float, 8>
// SAYS: tensor<float, 8, 4>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::input<w, matrix>, dv::on<left, dv::let<y, gelu(x)>>, dv::on<right, dv::let<z, gelu(w)>>, dv::let<t, all_reduce<sum>(y, z)>, dv::output<t>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
