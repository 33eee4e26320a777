// EXPECT: error::unknown_name
// SAYS: did_you_mean<app::forward>
// SAYS: forwerd
#include "ops.hpp"

namespace app {
struct forwerd;
}
namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<forward, gelu(x)>, dv::let<y, plus(forwerd, x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
