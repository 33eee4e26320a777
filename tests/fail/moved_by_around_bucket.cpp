// EXPECT: error::nothing_to_bucket
// SAYS: moved by copy engines
// SAYS: bucket<
// What copy engines move is in no group of NCCL.
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<tp, 2>>, dv::input<x, vector>,
                         dv::moved_by<dv::transport::peer_copy, dv::bucket<dv::automatic, dv::let<y, all_reduce<sum, tp>(x)>,
                                                                           dv::let<z, all_reduce<maximum, tp>(x)>>>,
                         dv::output<y, z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
