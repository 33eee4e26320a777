// EXPECT: error::memory_exceeded
// SAYS: app::unnamed_argument(app::x)
#include "ops.hpp"

namespace app {
struct unnamed_argument {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x.with_extents(1000); }
};
struct first {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x.with_extents(1); }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, first(unnamed_argument(x))>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::memory_limit<2000>>>;
