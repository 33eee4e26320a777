// EXPECT: error::cut_in_another_way
// SAYS: app::y
// SAYS: app::per_row
#include "ops.hpp"

// The columns of t are cut, the rows are read.
namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct turned {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x.with_extents(x.extent[1], x.extent[0]); }
    static constexpr auto row_wise = dv::by_extents({0}, {1});
};
struct model : dv::graph<dv::input<x, blocks>, dv::split<2, dv::let<t, turned(x)>, dv::let<y, per_row(t)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
