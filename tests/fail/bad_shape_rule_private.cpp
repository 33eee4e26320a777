// EXPECT: error::bad_shape_rule
// SAYS: app::hides_it
// SAYS: is private
#include "ops.hpp"

namespace app {
class hides_it {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x; }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, hides_it(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
