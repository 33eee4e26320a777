// EXPECT: error::wrong_arity
// SAYS: app::plus
// SAYS: number<3
#include "ops.hpp"

namespace app {
template <int> struct family;
}
namespace app {
struct model : dv::graph<dv::input<family<0>, vector>, dv::input<family<1>, vector>, dv::input<family<2>, vector>, dv::let<y, plus(dv::all<3, family>)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
