// EXPECT: error::not_row_wise
// SAYS: app::y
// SAYS: app::column_sums
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct column_sums {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x.with_extents(x.extent[1]); }
    static constexpr auto row_wise = dv::by_extents({0}, {dv::whole});
};
struct model : dv::graph<dv::input<x, blocks>, dv::split<2, dv::let<y, column_sums(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
