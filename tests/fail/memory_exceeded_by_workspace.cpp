// EXPECT: error::memory_exceeded
// SAYS: number<1000000256
#include "ops.hpp"

namespace app {
struct logs : copy_of {
    static constexpr std::int64_t workspace(dv::tensor_type) { return 1'000'000'000; }
    static constexpr bool has_effect = true;
};
struct model : dv::graph<dv::input<x, vector>, dv::let<dv::values<dv::discard>, logs(x)>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::memory_limit<1'000'000>>>;
