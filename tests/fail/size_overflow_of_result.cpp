// EXPECT: error::size_overflow
#include "ops.hpp"

namespace app {
struct explode {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t.with_extents(std::int64_t{1} << 40, std::int64_t{1} << 40); }
};
}
namespace app {
struct model : dv::graph<dv::input<x, vector>, dv::let<y, explode(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
