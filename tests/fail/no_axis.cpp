// EXPECT: error::member_count
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<t, all_reduce<sum>(x)>, dv::output<t>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
