// EXPECT: error::launch_mismatch
// SAYS: app::s
// SAYS: app::by_value
#include "launched.hpp"

namespace app {
struct by_value {
    template <class X>
    static void launch(dv::host::stream, dv::in<X>);
};
struct started : dv::graph<dv::state<s, vector, by_value>, dv::let<y, launched(s)>, dv::output<y>> {};
}  // namespace app

void program(dv::host::rank& rank) { dv::executor<app::started> step{rank}; }
