// EXPECT: error::option_of_the_plan
// SAYS: in_flight<2>
#include "launched.hpp"

void program(dv::host::rank& rank) {
    dv::executor<app::model> step{rank, dv::in_flight<2>{}};
}
