// EXPECT: error::update_not_sharded
// SAYS: app::w
// SAYS: app::sum_of
// The ranks may hold different values of the state.
#include "ops.hpp"

namespace app {
struct sum_of : plus {
    static constexpr auto row_wise = dv::elementwise();
};
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, vector>, dv::state<w, vector, ones>,
                         dv::shard_update<dv::update<w, sum_of(w, all_reduce<sum, dp>(x))>>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
