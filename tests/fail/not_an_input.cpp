// EXPECT: error::not_an_input
// SAYS: app::y
#include "launched.hpp"

void program(dv::host::rank& rank) {
    dv::executor<app::model> step{rank};
    step.bind(dv::name<app::y>, 1.0f);
}
