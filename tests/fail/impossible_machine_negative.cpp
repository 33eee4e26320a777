// EXPECT: error::impossible_machine
// SAYS: ahead_of_time
#include "ops.hpp"

namespace app {
struct ahead_of_time {
    static constexpr dv::machine_description description{.name = "ahead of time", .half_flops = 1'000'000, .edge_latency = -1};
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<app::ahead_of_time>>;
