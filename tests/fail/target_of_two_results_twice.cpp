// EXPECT: error::target_as_two_arguments
// SAYS: app::t
// Of two states, one is passed twice.
#include "ops.hpp"

namespace app {
struct step {
    static constexpr dv::results result(dv::tensor_type w, dv::tensor_type m, dv::tensor_type) { return {w, m}; }
};
struct trained : dv::graph<dv::state<s, matrix, ones>, dv::state<t, matrix, ones>, dv::update<dv::values<s, t>, step(s, t, t)>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::trained>;
