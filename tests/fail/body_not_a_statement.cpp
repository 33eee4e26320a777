// EXPECT: error::body_not_a_statement
// SAYS: app::hidden<0>
#include "ops.hpp"

namespace app {
template <int> struct hidden;
struct model : dv::graph<dv::input<x, vector>, dv::repeat<hidden, 2>, dv::output<dv::all<2, hidden>>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
