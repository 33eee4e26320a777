// EXPECT: error::bad_block_count
// SAYS: split<-1
// SAYS: statement<2>
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct model : dv::graph<dv::input<x, blocks>, dv::split<-1, dv::let<y, per_row(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
