// EXPECT: error::unknown_name
// SAYS: app::typo
// SAYS: at<dovetail::error::statement<3>, dovetail::error::statement<2>
#include "ops.hpp"

namespace app {
struct typo;
struct model : dv::graph<dv::mesh<dv::axis<tp, 2>>, dv::input<x, vector>,
                         dv::shard_update<dv::let<y, all_reduce<sum, tp>(x)>, dv::let<z, gelu(typo)>>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
