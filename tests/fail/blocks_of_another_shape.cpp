// EXPECT: error::blocks_of_another_shape
// SAYS: app::y
// SAYS: app::gram
// SAYS: tensor<double, 8, 32
#include "ops.hpp"

namespace app {
struct gram {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x.with_extents(x.extent[0], x.extent[0]); }
    static constexpr auto row_wise = dv::by_rows(0);
};
struct model : dv::graph<dv::input<x, dv::tensor<double, 8, 32>>, dv::split<2, dv::let<y, gram(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
