// EXPECT: error::in_place_mismatch
// SAYS: app::shorter
// SAYS: tensor<float, 8
// SAYS: tensor<float, 4
#include "ops.hpp"

namespace app {
struct shorter {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x.with_extents(4); }
    static constexpr bool in_place_only = true;
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, gelu(x)>, dv::let<z, shorter(y)>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
