// EXPECT: error::differs_by_rank
// SAYS: app::y
// SAYS: app::shifted_by
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

struct shifted_by {
    static constexpr dv::tensor_type result(dv::tensor_type x, dv::tensor_type) { return x; }
    static constexpr auto row_wise = dv::by_rows(0);
};
struct model : dv::graph<dv::mesh<dv::axis<tp, 2>>, dv::input<x, blocks>, dv::input<w, dv::tensor<float, 64>>,
                         dv::split<2, dv::let<t, reduce_scatter<sum, tp>(x)>, dv::let<y, shifted_by(t, w)>, dv::let<z, all_gather<tp>(y)>>,
                         dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
