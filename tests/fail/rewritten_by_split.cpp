// EXPECT: each of them bucket, decompose, keep, identity or automatic
// SAYS: rewritten_by<
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::rewritten_by<dv::rewrite::split>>>;
