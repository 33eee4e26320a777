// EXPECT: a shape rule gives more results than an operation may have
#include "ops.hpp"

namespace app {
struct seventeen {
    static constexpr dv::results result(dv::tensor_type x) { return {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}; }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<dv::values<y, z>, seventeen(x)>, dv::output<y, z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
