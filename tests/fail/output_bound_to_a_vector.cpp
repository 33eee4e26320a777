// EXPECT: error::wrong_output_binding
// SAYS: app::y
#include "launched.hpp"

#include <vector>

void program(dv::host::rank& rank, std::vector<float>& values) {
    dv::executor<app::model> step{rank};
    step.bind_output(dv::name<app::y>, values);
}
