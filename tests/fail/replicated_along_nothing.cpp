// EXPECT: error::replicated_along_nothing
// SAYS: app::w
// all_reduce without axes is along all of them, replicated<> along none.
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, matrix>, dv::state<w, matrix, ones, dv::replicated<>>,
                         dv::let<y, plus(x, w)>, dv::update<w, gelu(w)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
