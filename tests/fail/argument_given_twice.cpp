// EXPECT: error::argument_given_twice
// SAYS: std::chrono::
#include "launched.hpp"

void program(dv::host::rank& rank) {
    dv::store store{rank};
    dv::executor<app::model> step{rank, std::chrono::seconds{5}, store, dv::replay_or_streams, std::chrono::milliseconds{1}};
}
