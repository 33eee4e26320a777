// EXPECT: error::not_an_output
// SAYS: app::x
#include "launched.hpp"

void program(dv::host::rank& rank, float* data) {
    dv::executor<app::model> step{rank};
    step.bind_output(dv::name<app::x>, data, 8);
}
