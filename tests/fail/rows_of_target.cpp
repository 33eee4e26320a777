// EXPECT: error::rows_of_target
// SAYS: app::s
#include "ops.hpp"

namespace app {
using block = dv::tensor<float, 64>;
using blocks = dv::tensor<float, 8, 64>;
struct take : copy_of {};
struct mend {
    static constexpr dv::tensor_type result(dv::tensor_type whole, dv::tensor_type) { return whole; }
};
struct model : dv::graph<dv::input<x, blocks>, dv::state<s, blocks, ones>, dv::update<s, mend(x, rows<0, 2>(s))>, dv::let<y, gelu(s)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
