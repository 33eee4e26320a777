// EXPECT: error::bare_option
// SAYS: in_flight<2>
#include "launched.hpp"

void program(dv::host::rank& rank) {
    dv::executor<app::model, dv::in_flight<2>> step{rank};
    step.run();
}
