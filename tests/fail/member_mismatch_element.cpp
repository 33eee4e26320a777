// EXPECT: error::member_mismatch
// SAYS: half
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::input<w, dv::tensor<dv::half, 8>>, dv::on<left, dv::let<y, gelu(x)>>, dv::on<right, dv::let<z, gelu(w)>>, dv::let<t, all_gather<>(y, z)>, dv::output<t>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
