// EXPECT: error::wrong_binding
// SAYS: app::x
// SAYS: row_mdspan<float
#include "../support/row_mdspan.hpp"
#include "launched.hpp"

void program(dv::host::rank& rank, float* data) {
    dv::executor<app::model> step{rank};
    step.bind(dv::name<app::x>, support::row_mdspan<float, 4, 3>{data, {4, 3}, {3, 1}});
}
