// EXPECT: error::split_in_place
// SAYS: app::y
// SAYS: app::overwrite_rows
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct overwrite_rows : overwrite {
    static constexpr auto row_wise = dv::elementwise();
};
struct model : dv::graph<dv::input<x, blocks>, dv::let<t, gelu(x)>, dv::split<2, dv::let<y, overwrite_rows(t)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
