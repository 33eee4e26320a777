// EXPECT: error::nothing_to_shard
// SAYS: shard_update<
// SAYS: all_reduce
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, vector>, dv::shard_update<dv::let<y, all_reduce<sum, dp>(x)>>,
                         dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
