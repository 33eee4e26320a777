// EXPECT: error::operation_as_value
// SAYS: app::relu
#include "ops.hpp"

namespace app {
void norm(float);  // as CUDA's headers have it
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(relu(norm))>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
