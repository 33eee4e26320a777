// EXPECT: error::after_of_another_statement
// SAYS: app::z
#include "ops.hpp"

namespace app {
using block = dv::tensor<float, 64>;
using joined = dv::let<w, concat<y, z>>;
struct model : dv::graph<dv::input<x, block>, dv::let<y, gelu(x)>, dv::let<z, relu(x)>, dv::after<z, joined>, dv::output<w>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
