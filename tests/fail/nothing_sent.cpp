// EXPECT: error::nothing_to_move
// SAYS: moved_by<
// SAYS: let<app::z
// Nobody takes the second value on another role.
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<y, gelu(x)>>,
                         dv::on<right, dv::moved_by<dv::transport::nccl, dv::let<z, gelu(y)>>>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
