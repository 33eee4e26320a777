// EXPECT: error::option_of_the_plan
// SAYS: overlap<false>
#include "launched.hpp"

void program(dv::host::rank& rank) {
    dv::executor<app::model> step{rank, dv::options<dv::overlap<false>>{}};
}
