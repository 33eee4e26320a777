// EXPECT: error::negative_count
// SAYS: app::part
#include "ops.hpp"

namespace app {
template <int> struct part;
struct model : dv::graph<dv::input<x, vector>, dv::let<y, plus(x, dv::all<-1, part>)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
