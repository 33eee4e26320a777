// EXPECT: error::unknown_name
// SAYS: app::forward
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, vector>, dv::input<w, vector>,
                         dv::bucket<dv::automatic, dv::let<y, all_reduce<sum, dp>(x)>, dv::let<z, all_reduce<sum, dp>(forward)>>,
                         dv::output<y, z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
