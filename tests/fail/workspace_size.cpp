// EXPECT: error::workspace_size
// SAYS: app::greedy
#include "ops.hpp"

namespace app {
struct greedy {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    static constexpr std::int64_t workspace(dv::tensor_type) { return std::int64_t{1} << 61; }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, greedy(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
