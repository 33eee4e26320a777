// EXPECT: error::state_crosses_roles
// SAYS: app::s
#include "ops.hpp"

namespace app {
using block = dv::tensor<float, 64>;
using blocks = dv::tensor<float, 8, 64>;
struct model : dv::graph<dv::input<x, blocks>, dv::on<left, dv::state<s, blocks, ones>, dv::update<s, gelu(x)>>, dv::on<right, dv::let<y, gelu(rows<0, 2>(s))>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
