// The graph of the project that tests the build files of the README.
#pragma once

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>

namespace app {
using namespace dovetail::ops;
struct x;
struct y;
struct model : dovetail::graph<dovetail::input<x, dovetail::tensor<float, 64>>, dovetail::let<y, relu(x)>, dovetail::output<y>> {};
}  // namespace app
