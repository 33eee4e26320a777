// EXPECT: error::bad_tiles
// SAYS: app::tiled
#include "ops.hpp"

namespace app {
struct tiled : copy_of {
    static constexpr dv::cost tiles(dv::tensor_type x) { return dv::bytes_moved(x.bytes()); }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, tiled(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
