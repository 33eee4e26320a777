// EXPECT: error::workspace_not_constexpr
// SAYS: app::z
// SAYS: app::with_memory
// The function is not constexpr; the operation in front of it is right.
#include "ops.hpp"

namespace app {
struct with_memory : copy_of {
    static std::int64_t workspace(dv::tensor_type x) { return x.bytes(); }
};
struct model : dv::graph<dv::input<x, matrix>, dv::let<y, gelu(x)>, dv::let<z, with_memory(y)>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
