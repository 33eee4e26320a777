// EXPECT: error::profile_of_another_machine
// SAYS: times_of_other_figures
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
struct times_of_other_figures {
    static constexpr int format = dv::profile_format;
    static constexpr dv::profile_row rows[] = {{1, 1000, {}, 1}};
    static constexpr dv::profile_table table{
        "model", "h200_nvlink", dv::cost_model::graph_key(dv::plan::typed<model>::value), {1000, 1000, 1000}, {rows, 1}, "",
        dv::machine_key(dv::machine::h100_nvlink::description)};
};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::machine::h200_nvlink, dv::profile<app::times_of_other_figures>>>;
