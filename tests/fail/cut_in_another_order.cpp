// EXPECT: error::cut_in_another_way
// SAYS: app::y
// SAYS: app::sum_of_rows
#include "ops.hpp"

// The rows of t lie in the order of the reduce_scatter, those of w as they are written.
namespace app {
using blocks = dv::tensor<float, 8, 64>;

using halved = dv::tensor<float, 4, 64>;
struct sum_of_rows : plus {
    static constexpr auto row_wise = dv::by_rows(0, 1);
};
struct model : dv::graph<dv::mesh<dv::axis<tp, 2>>, dv::input<x, blocks>, dv::input<w, halved>,
                         dv::split<2, dv::let<t, reduce_scatter<sum, tp>(x)>, dv::let<y, sum_of_rows(t, w)>, dv::let<z, all_gather<tp>(y)>>,
                         dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
