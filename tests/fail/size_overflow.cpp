// EXPECT: error::size_overflow
#include "ops.hpp"

namespace app {
using huge = dv::tensor<float, 4294967296, 4294967296>;
}
namespace app {
struct model : dv::graph<dv::input<x, huge>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
