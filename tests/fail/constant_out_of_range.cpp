// EXPECT: this constant is no value of the state's element type
#include "launched.hpp"

#include <dovetail/ops/ops.hpp>

namespace app {
struct s;
struct counting : dv::graph<dv::state<s, dv::tensor<std::int8_t, 4>, dv::ops::constant<1000>>, dv::let<z, dv::ops::copy(s)>,
                           dv::output<z>> {};
}  // namespace app

void program(dv::host::rank& rank) {
    dv::executor<app::counting> step{rank};
    step.run();
}
