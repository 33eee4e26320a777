// EXPECT: error::rule_not_constexpr
// SAYS: app::y
// SAYS: app::at_run_time
#include "ops.hpp"

namespace app {
struct at_run_time {
    static dv::tensor_type result(dv::tensor_type x) { return x; }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(at_run_time(x))>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
