// EXPECT: error::not_a_statement
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, gelu(x), dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
