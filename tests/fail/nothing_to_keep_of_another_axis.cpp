// EXPECT: error::nothing_to_keep
// SAYS: app::tp
// The same argument, but one of the two is outside, and the other one is along another axis.
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>, dv::axis<tp, 2>>, dv::input<w, vector>, dv::let<z, gelu(all_gather<dp>(w))>,
                         dv::keep<dv::let<x, gelu(all_gather<dp>(w))>, dv::let<y, gelu(all_gather<tp>(w))>>, dv::output<x, y, z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
