// EXPECT: error::target_as_two_arguments
// SAYS: app::s
// SAYS: app::accumulate
// The launch gets the state as inout and as in.
#include "ops.hpp"

namespace app {
struct accumulate {
    static constexpr dv::tensor_type result(dv::tensor_type c, dv::tensor_type, dv::tensor_type) { return c; }
};
struct sums : dv::graph<dv::input<x, matrix>, dv::state<s, matrix, ones>, dv::update<s, accumulate(s, s, x)>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::sums>;
