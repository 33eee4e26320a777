// EXPECT: error::nothing_to_move
// SAYS: moved_by<
// SAYS: let<app::y
// The collective stands outside.
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, vector>,
                         dv::moved_by<dv::transport::peer_copy, dv::let<y, gelu(x)>>, dv::let<z, all_reduce<sum, dp>(y)>,
                         dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
