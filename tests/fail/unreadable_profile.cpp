// EXPECT: error::unreadable_profile
// SAYS: of_another_version
#include "ops.hpp"

namespace app {
struct of_another_version {
    static constexpr int format = dv::profile_format + 1;
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::profile<app::of_another_version>>>;
