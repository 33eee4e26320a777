// EXPECT: error::bad_cost
// SAYS: app::hides_it
#include "ops.hpp"

namespace app {
class hides_it : public copy_of {
    static constexpr dv::cost cost(dv::tensor_type x) { return dv::bytes_moved(x.bytes()); }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, hides_it(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
