// EXPECT: error::no_such_role
// SAYS: app::left
#include "launched.hpp"

bool program(dv::host::rank& rank) {
    dv::executor<app::model> step{rank};
    return step.is(dv::name<app::left>);
}
