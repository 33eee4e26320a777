// EXPECT: error::wrong_state_values
// SAYS: app::s
// SAYS: std::vector<int
#include "launched.hpp"

namespace app {
struct kept : dv::graph<dv::input<x, vector>, dv::state<s, vector, dv::from_store>, dv::let<y, launched(x)>, dv::let<z, launched(s)>, dv::output<y, z>> {};
}  // namespace app

void program(dv::host::rank& rank) {
    dv::executor<app::kept> step{rank};
    step.write_state(dv::name<app::s>, std::vector<int>(8));
}
