// EXPECT: error::nothing_to_bucket
// SAYS: bucket<63
// Together they have 64 bytes.
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, vector>, dv::input<w, vector>,
                         dv::bucket<63, dv::let<y, all_reduce<sum, dp>(x)>, dv::let<z, all_reduce<sum, dp>(w)>>, dv::output<y, z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
