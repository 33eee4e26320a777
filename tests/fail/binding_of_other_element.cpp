// EXPECT: error::wrong_binding
// SAYS: app::x
// SAYS: tensor<float, 8>
#include "launched.hpp"

void program(dv::host::rank& rank) {
    dv::executor<app::model> step{rank};
    step.bind(dv::name<app::x>, std::vector<double>(8));
}
