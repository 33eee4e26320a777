// EXPECT: error::wrong_output_binding
// SAYS: app::y
#include "launched.hpp"

void program(dv::host::rank& rank, float* data) {
    dv::executor<app::model> step{rank};
    step.bind_output(dv::name<app::y>, data);
}
