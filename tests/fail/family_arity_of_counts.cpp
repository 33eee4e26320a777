// EXPECT: error::family_arity
// SAYS: app::hidden
#include "ops.hpp"

namespace app {
template <int> struct hidden;
template <int I> using layer = dv::let<hidden<I>, gelu(x)>;
struct model : dv::graph<dv::input<x, vector>, dv::repeat<layer, 2>, dv::output<dv::all<dv::counts<1, 2>, hidden>>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
