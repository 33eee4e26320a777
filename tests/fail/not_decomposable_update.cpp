// EXPECT: error::not_decomposable
// SAYS: app::s
// SAYS: all_reduce<
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<tp, 2>>, dv::state<s, vector, ones>, dv::decompose<dv::update<s, all_reduce<sum, tp>(s)>>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
