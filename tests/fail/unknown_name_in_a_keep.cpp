// EXPECT: error::unknown_name
// SAYS: app::forward
// SAYS: statement<2>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<w, vector>,
                         dv::keep<dv::let<x, gelu(all_gather<dp>(w))>, dv::let<y, gelu(all_gather<dp>(forward))>>, dv::output<x, y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
