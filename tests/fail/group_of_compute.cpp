// EXPECT: error::not_communication
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::nccl_group<dv::let<y, gelu(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
