// EXPECT: error::wrong_binding
// SAYS: app::x
#include "launched.hpp"

void program(dv::host::rank& rank) {
    dv::executor<app::model> step{rank};
    step.bind(dv::name<app::x>, 1.0f);
}
