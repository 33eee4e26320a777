// EXPECT: error::too_many_indices
#include "ops.hpp"

namespace app {
template <int...> struct step;
template <int A, int B, int C, int D> using block = dv::let<step<A, B, C, D>, gelu(x)>;
struct model : dv::graph<dv::input<x, vector>, dv::repeat<block, 2, 2, 2, 2>, dv::output<step<0, 0, 0, 0>>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
