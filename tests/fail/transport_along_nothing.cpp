// EXPECT: dv::axis_transport lists no axis
// An option that says nothing.
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, matrix>, dv::let<y, all_gather<dp>(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::axis_transport<dv::transport::peer_copy>>>;
