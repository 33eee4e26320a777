// EXPECT: error::nothing_to_keep
// SAYS: keep<
// SAYS: all_gather
// A state is updated between the two gathers.
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::state<w, vector, dv::from_store>,
                         dv::keep<dv::let<x, gelu(all_gather<dp>(w))>, dv::update<w, relu(w)>, dv::let<y, gelu(all_gather<dp>(w))>>,
                         dv::output<x, y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
