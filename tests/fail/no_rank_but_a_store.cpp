// EXPECT: error::no_rank
// SAYS: app::model
#include "launched.hpp"

void program(dv::host::rank& rank) {
    dv::store store{rank};
    dv::executor<app::model> step{store, rank};
}
