// EXPECT: error::impossible_machine
// SAYS: not_a_square
#include "ops.hpp"

namespace app {
struct not_a_square {
    static constexpr dv::gpu_pair links[3] = {{}, {400'000'000'000, 0}, {400'000'000'000, 0}};
    static constexpr dv::machine_description description{.name = "not a square", .peer_bandwidth = 400'000'000'000, .links = links};
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<app::not_a_square>>;
