// EXPECT: error::negative_count
// SAYS: app::block
#include "ops.hpp"

namespace app {
template <int I, int J> using block = dv::let<y, gelu(x)>;
struct model : dv::graph<dv::input<x, vector>, dv::repeat<block, -1, -2>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
