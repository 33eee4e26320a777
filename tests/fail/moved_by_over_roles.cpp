// EXPECT: error::not_by_copy_engines
// SAYS: moved_by<
// SAYS: app::t
// The result comes on all roles at once.
#include "ops.hpp"

namespace app {
struct summed : dv::graph<dv::input<x, matrix>, dv::on<left, dv::let<y, gelu(x)>>, dv::on<right, dv::let<z, gelu(x)>>,
                          dv::moved_by<dv::transport::peer_copy, dv::let<t, all_reduce<sum>(y, z)>>, dv::output<t>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::summed>;
