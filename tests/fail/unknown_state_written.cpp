// EXPECT: error::unknown_state
// SAYS: app::z
#include "launched.hpp"

void program(dv::host::rank& rank) {
    dv::executor<app::model> step{rank};
    step.write_state(dv::name<app::z>, std::vector<float>(8));
}
