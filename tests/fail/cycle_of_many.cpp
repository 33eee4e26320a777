// EXPECT: error::cycle
// SAYS: cycle<app::w, app::y, app::forward, app::gradient, app::z, app::w
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<w, plus(x, z)>, dv::let<y, gelu(w)>, dv::let<forward, relu(y)>, dv::let<gradient, gelu(relu(forward))>, dv::let<z, gelu(gradient)>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
