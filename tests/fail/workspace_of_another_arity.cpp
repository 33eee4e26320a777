// EXPECT: error::bad_workspace
// SAYS: app::scratch
#include "ops.hpp"

namespace app {
struct scratch : copy_of {
    static constexpr std::int64_t workspace(dv::tensor_type a, dv::tensor_type b) { return a.bytes() + b.bytes(); }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, scratch(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
