// EXPECT: error::no_rank
// SAYS: app::model
#include "launched.hpp"

void program() {
    dv::executor<app::model> step;
    step.run();
}
