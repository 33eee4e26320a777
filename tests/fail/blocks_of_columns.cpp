// EXPECT: error::blocks_of_columns
// SAYS: app::y
// SAYS: app::turned
#include "ops.hpp"

// Blocks of columns cannot be put together without a copy.
namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct turned {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x.with_extents(x.extent[1], x.extent[0]); }
    static constexpr auto row_wise = dv::by_extents({0}, {1});
};
struct model : dv::graph<dv::input<x, blocks>, dv::split<2, dv::let<y, turned(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
