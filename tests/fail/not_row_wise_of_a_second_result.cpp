// EXPECT: error::not_row_wise
// SAYS: app::z
// SAYS: app::with_sums
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct with_sums {
    static constexpr dv::results result(dv::tensor_type x) { return {x, x.with_extents(x.extent[1])}; }
    static constexpr auto row_wise = dv::by_extents({0}, {0});
};
struct model : dv::graph<dv::input<x, blocks>, dv::split<2, dv::let<dv::values<z, y>, with_sums(x)>>, dv::output<y, z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
