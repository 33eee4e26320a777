// EXPECT: error::cost_not_constexpr
// SAYS: app::dear
#include "ops.hpp"

namespace app {
struct dear : copy_of {
    static dv::cost cost(dv::tensor_type x) { return dv::bytes_moved(x.bytes()); }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, dear(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
