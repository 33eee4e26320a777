// EXPECT: error::launch_mismatch
// SAYS: app::s
// SAYS: a state that its own update reads is inout
#include "ops.hpp"

#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/elementwise.hpp>

namespace app {
struct multiple_and_sum {
    template <class T>
    DOVETAIL_HOST_DEVICE T operator()(T a, T b, T c) const {
        return a * b + c;
    }
};
struct model : dv::graph<
    dv::input<x, vector>,
    dv::state<s, vector, ones>,
    dv::update<s, dv::ops::zip_with<multiple_and_sum>(x, s, x)>> {};
}  // namespace app

void program(dv::host::rank& rank) {
    dv::executor<app::model> step{rank};
    step.run();
}
