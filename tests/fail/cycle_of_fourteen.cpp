// EXPECT: error::cycle
// SAYS: app::v<0>, app::v<13>
// SAYS: names_left_out, app::v<0>
#include "ops.hpp"

namespace app {
template <int> struct v;
template <int I> using next = dv::let<v<I>, relu(v<(I + 1) % 14>)>;
struct model : dv::graph<dv::input<x, vector>, dv::repeat<next, 13>, dv::let<v<13>, plus(x, v<0>)>, dv::output<v<0>>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
