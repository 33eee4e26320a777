// A graph that runs on the host, for programs that use its executor wrongly.
#pragma once

#include "ops.hpp"

#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>

namespace app {
struct launched : copy_of {
    template <class X>
    static void launch(dv::host::stream, dv::in<X>, dv::out<X>);
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, launched(x)>, dv::output<y>> {};
}  // namespace app
