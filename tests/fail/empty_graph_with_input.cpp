// EXPECT: error::empty_graph
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
