// EXPECT: error::profile_of_another_graph
// SAYS: app::model
// SAYS: times_of_other
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
struct other : dv::graph<dv::input<x, vector>, dv::let<y, relu(x)>, dv::output<y>> {};
struct times_of_other {
    static constexpr int format = dv::profile_format;
    static constexpr dv::profile_row rows[] = {{1, 1000, {}, 1}};
    static constexpr dv::profile_table table{
        "other", "h200_nvlink", dv::cost_model::graph_key(dv::plan::typed<other>::value), {1000, 1000, 1000}, {rows, 1}, "",
        dv::machine_key(dv::machine::h200_nvlink::description)};
};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::profile<app::times_of_other>>>;
