// EXPECT: error::bad_shape_rule
// SAYS: app::member
#include "ops.hpp"

namespace app {
struct member {
    constexpr dv::tensor_type result(dv::tensor_type x) { return x; }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, member(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
