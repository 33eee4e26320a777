// EXPECT: error::unreadable_profile
// SAYS: out_of_order
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
struct out_of_order {
    static constexpr int format = dv::profile_format;
    static constexpr dv::profile_row rows[] = {{2, 1000, {}, 1}, {1, 1000, {}, 1}};
    static constexpr dv::profile_table table{
        "model", "h200_nvlink", dv::cost_model::graph_key(dv::plan::typed<model>::value), {1000, 1000, 1000}, {rows, 2}};
};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::profile<app::out_of_order>>>;
