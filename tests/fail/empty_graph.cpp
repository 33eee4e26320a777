// EXPECT: error::empty_graph
// SAYS: app::model
#include "ops.hpp"

namespace app {
struct model : dv::graph<> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
