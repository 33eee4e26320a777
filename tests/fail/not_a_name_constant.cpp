// EXPECT: error::not_a_name_constant
// SAYS: int
#include "launched.hpp"

void program(dv::host::rank& rank) {
    dv::executor<app::model> step{rank};
    step.bind(0, 1.0f);
}
