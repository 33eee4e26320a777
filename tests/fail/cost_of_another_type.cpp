// EXPECT: error::bad_cost
// SAYS: app::dear
#include "ops.hpp"

namespace app {
struct dear : copy_of {
    static constexpr std::int64_t cost(dv::tensor_type x) { return x.bytes(); }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, dear(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
