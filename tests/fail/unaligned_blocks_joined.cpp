// EXPECT: error::unaligned_blocks
// SAYS: app::y
// SAYS: app::row_sums
// SAYS: tensor<float, 8
// SAYS: number<16>
#include "ops.hpp"

// What is read is aligned, what is put together is not.
namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct row_sums {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x.with_extents(x.extent[0]); }
    static constexpr auto row_wise = dv::by_rows(0);
};
struct model : dv::graph<dv::input<x, blocks>, dv::split<2, dv::let<y, row_sums(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
