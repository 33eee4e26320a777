// EXPECT: error::negative_count
// SAYS: app::block
#include "ops.hpp"

namespace app {
template <int I> using block = dv::let<y, gelu(x)>;
struct model : dv::graph<dv::input<x, vector>, dv::repeat<block, dv::down<-1>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
