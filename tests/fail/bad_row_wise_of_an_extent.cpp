// EXPECT: error::bad_row_wise
// SAYS: app::scaled
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct scaled : copy_of {
    static constexpr auto row_wise = dv::by_extents({-2}, {0});
};
struct model : dv::graph<dv::input<x, blocks>, dv::split<2, dv::let<y, scaled(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
