// EXPECT: error::operation_as_value
// SAYS: app::relu
// SAYS: typo
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(relu(typo))>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
