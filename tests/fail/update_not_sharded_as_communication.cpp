// EXPECT: error::update_not_sharded
// SAYS: app::w
// SAYS: broadcast<
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, vector>, dv::state<w, vector, ones, dv::replicated<dp>>,
                         dv::shard_update<dv::let<z, all_reduce<sum, dp>(x)>, dv::update<w, broadcast<dp, root_index<0>>(x)>>,
                         dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
