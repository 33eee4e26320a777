// EXPECT: error::update_not_sharded
// SAYS: app::w
// SAYS: app::plus
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, vector>, dv::state<w, vector, ones, dv::replicated<dp>>,
                         dv::shard_update<dv::update<w, plus(w, all_reduce<sum, dp>(x))>>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
