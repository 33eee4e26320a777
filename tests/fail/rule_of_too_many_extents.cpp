// EXPECT: error::shape_mismatch
// SAYS: app::y
// SAYS: app::deeper
// A tensor has at most six extents.
#include "ops.hpp"

namespace app {
struct deeper {
    static constexpr dv::tensor_type result(dv::tensor_type x) {
        x.rank += 5;
        return x;
    }
};
struct model : dv::graph<dv::input<x, matrix>, dv::let<y, deeper(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
