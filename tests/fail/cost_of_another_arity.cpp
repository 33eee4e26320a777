// EXPECT: error::bad_cost
// SAYS: app::dear
#include "ops.hpp"

namespace app {
struct dear : plus {
    static constexpr dv::cost cost(dv::tensor_type a) { return {a.size()}; }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, dear(x, x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
