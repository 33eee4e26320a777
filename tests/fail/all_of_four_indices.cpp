// EXPECT: error::too_many_indices
// SAYS: app::hidden
#include "ops.hpp"

namespace app {
template <int...> struct hidden;
template <int I, int J> using layer = dv::let<hidden<I, J>, gelu(x)>;
struct model : dv::graph<dv::input<x, vector>, dv::repeat<layer, 2, 1>, dv::let<y, plus(dv::all<dv::counts<2, 1, 1, 1>, hidden>)>,
                         dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
