// EXPECT: error::bad_shape_rule
// SAYS: app::counted
#include "ops.hpp"

namespace app {
struct counted {
    static constexpr std::int64_t result(dv::tensor_type x) { return x.size(); }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, counted(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
