// EXPECT: error::argument_given_twice
// SAYS: store
#include "launched.hpp"

void program(dv::host::rank& rank) {
    dv::store store{rank}, other{rank};
    dv::executor<app::model> step{rank, dv::record_times, store, other};
}
