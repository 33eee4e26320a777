// EXPECT: error::unknown_name
// SAYS: app::typo
// SAYS: statement<2>, dovetail::error::statement<2>
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct typo;
struct model : dv::graph<dv::input<x, blocks>, dv::split<2, dv::let<t, per_row(x)>, dv::let<y, per_row(typo)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
