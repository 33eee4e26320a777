// EXPECT: error::transport_of_no_axis
// SAYS: app::left
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<tp, 2>>, dv::input<x, vector>, dv::let<y, all_gather<tp>(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::axis_transport<dv::transport::nccl, app::tp, app::left>>>;
