// EXPECT: error::body_arity
// SAYS: repeat<app::layer, 4>
// SAYS: statement<2>
#include "ops.hpp"

namespace app {
template <int, int> struct hidden;
template <int I, int J> using layer = dv::let<hidden<I, J>, gelu(x)>;
struct model : dv::graph<dv::input<x, vector>, dv::repeat<layer, 4>, dv::output<hidden<0, 0>>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
