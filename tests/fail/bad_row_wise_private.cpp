// EXPECT: error::private_fact
// SAYS: app::scaled
#include "ops.hpp"

namespace app {
using blocks = dv::tensor<float, 8, 64>;

class scaled : public copy_of {
    static constexpr auto row_wise = dv::by_rows(0);
};
struct model : dv::graph<dv::input<x, blocks>, dv::split<2, dv::let<y, scaled(x)>>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
