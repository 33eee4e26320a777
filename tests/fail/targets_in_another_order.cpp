// EXPECT: error::targets_in_another_order
// SAYS: app::t
// SAYS: app::step
// The first result is for t, and the operation changes s first.
#include "ops.hpp"

namespace app {
struct step {
    static constexpr dv::results result(dv::tensor_type w, dv::tensor_type m, dv::tensor_type) { return {w, m}; }
};
struct trained : dv::graph<dv::input<x, matrix>, dv::state<s, matrix, ones>, dv::state<t, matrix, ones>,
                           dv::update<dv::values<t, s>, step(s, t, x)>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::trained>;
