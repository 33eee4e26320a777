// EXPECT: error::negative_count
// SAYS: app::part
#include "ops.hpp"

namespace app {
template <int> struct part;
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y, dv::all<-1, part>>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
