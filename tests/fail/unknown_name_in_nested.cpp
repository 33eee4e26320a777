// EXPECT: error::unknown_name
// SAYS: app::w
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(relu(w))>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
