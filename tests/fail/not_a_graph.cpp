// EXPECT: error::not_a_graph
// SAYS: app::empty
// SAYS: an error that stands above
#include "ops.hpp"

namespace app {
struct empty {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::empty>;
