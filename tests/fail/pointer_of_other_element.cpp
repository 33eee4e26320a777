// EXPECT: error::wrong_binding
// SAYS: app::x
// SAYS: device_pointer<double>
#include "launched.hpp"

void program(dv::host::rank& rank, double* data) {
    dv::executor<app::model> step{rank};
    step.bind(dv::name<app::x>, dv::device_pointer{data, 8});
}
