// EXPECT: error::target_as_two_arguments
// SAYS: app::reversed_into
#include "ops.hpp"

namespace app {
using numbers = dv::tensor<float, 64>;
struct reversed_into {  // y[i] = a[i] + b[n - 1 - i]: elementwise in a alone
    static constexpr dv::tensor_type result(dv::tensor_type a, dv::tensor_type) { return a; }
    static constexpr int in_place = 0;
    static constexpr auto row_wise = dv::elementwise(0);
};
struct model : dv::graph<dv::input<x, numbers>, dv::state<s, numbers, ones>, dv::update<s, reversed_into(s, x)>,
                         dv::update<s, reversed_into(s, s)>, dv::let<y, gelu(s)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
