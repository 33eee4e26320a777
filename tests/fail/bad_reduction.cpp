// EXPECT: error::bad_reduction
// SAYS: bitwise_or
#include "ops.hpp"

namespace app {
struct bitwise_or;
}
namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp, 2>>, dv::let<t, all_reduce<bitwise_or, dp>(x)>, dv::output<t>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
