// EXPECT: error::not_an_executor_argument
// SAYS: double
#include "launched.hpp"

void program(dv::host::rank& rank) {
    dv::executor<app::model> step{rank, 0.5};
}
