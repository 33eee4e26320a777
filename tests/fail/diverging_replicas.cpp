// EXPECT: error::diverging_replicas
// SAYS: app::w
// SAYS: app::dp
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::mesh<dv::axis<dp>>, dv::state<w, vector, ones, dv::replicated<dp>>, dv::update<w, plus(w, x)>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
