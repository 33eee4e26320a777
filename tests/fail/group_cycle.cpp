// EXPECT: error::group_dependence
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp>>, dv::nccl_group<dv::let<y, all_reduce<sum, dp>(x)>, dv::let<z, all_reduce<maximum, dp>(w)>>, dv::let<w, gelu(y)>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
