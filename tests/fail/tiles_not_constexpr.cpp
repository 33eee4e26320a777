// EXPECT: error::cost_not_constexpr
// SAYS: app::tiled
#include "ops.hpp"

namespace app {
struct tiled : copy_of {
    static constexpr dv::cost cost(dv::tensor_type x) { return dv::bytes_moved(x.bytes()); }
    static dv::tiles tiles(dv::tensor_type x) { return {x.size()}; }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, tiled(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
