// EXPECT: error::update_mismatch
// SAYS: tensor<float, 8, 4>
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::state<s, matrix, ones>, dv::update<s, gelu(x)>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
