// EXPECT: error::unknown_name
// SAYS: app::gradient
// SAYS: in_role<app::left>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::after<x, dv::after<gradient, dv::let<y, gelu(x)>>>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
