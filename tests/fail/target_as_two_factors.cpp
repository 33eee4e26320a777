// EXPECT: error::target_as_two_arguments
// SAYS: app::s
// SAYS: dovetail::ops::add_matmul
#include "ops.hpp"

#include <dovetail/ops/gemm.hpp>

namespace app {
using square = dv::tensor<float, 8, 8>;
struct model : dv::graph<dv::input<x, square>, dv::state<s, square, ones>, dv::update<s, add_matmul(s, s, x)>, dv::let<y, gelu(s)>,
                         dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
