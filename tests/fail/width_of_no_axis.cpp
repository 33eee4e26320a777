// EXPECT: error::width_of_no_axis
// SAYS: app::x
#include "launched.hpp"

void program(dv::host::rank& rank) {
    dv::executor<app::model> step{rank, dv::width<app::x>(4)};
}
