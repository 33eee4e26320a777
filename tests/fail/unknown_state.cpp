// EXPECT: error::unknown_state
// SAYS: app::y
#include "launched.hpp"

void program(dv::host::rank& rank) {
    dv::executor<app::model> step{rank};
    step.read_state(dv::name<app::y>);
}
