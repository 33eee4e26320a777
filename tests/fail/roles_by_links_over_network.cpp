// EXPECT: error::no_links_to_order_by
// SAYS: link_between_roles
// The links are between the GPUs of one host.
#include "ops.hpp"

namespace app {
struct two_gpus {
    static constexpr dv::gpu_pair links[4] = {{}, {400'000'000'000, 0}, {400'000'000'000, 0}, {}};
    static constexpr dv::machine_description description{.name = "two gpus", .peer_bandwidth = 400'000'000'000, .links = links};
};
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<y, gelu(x)>>, dv::on<right, dv::let<z, gelu(x)>>, dv::output<y, z>> {};
}  // namespace app

constexpr auto planned =
    dv::predicted_time<app::model, dv::options<app::two_gpus, dv::link_between_roles<dv::link::network>, dv::roles_by_links>>;
