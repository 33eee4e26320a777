// EXPECT: error::output_elsewhere
// SAYS: app::y
// SAYS: app::right
// The value is made on another role.
#include "ops.hpp"

namespace app {
struct passed : dv::graph<dv::input<x, matrix>, dv::on<left, dv::let<y, gelu(x)>>, dv::on<right, dv::let<z, gelu(x)>, dv::output<y>>,
                          dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::passed>;
