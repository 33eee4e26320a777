// EXPECT: error::impossible_machine
// SAYS: half_a_list
#include "ops.hpp"

namespace app {
struct half_a_list {
    static constexpr dv::machine_description description{.name = "half a list", .with_communication = {.of_compute = {1500}}};
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<app::half_a_list>>;
