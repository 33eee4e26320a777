// EXPECT: error::not_an_output
// SAYS: app::t
#include "launched.hpp"

void program(dv::host::rank& rank) {
    dv::executor<app::model> step{rank};
    step.run().read(dv::name<app::t>);
}
