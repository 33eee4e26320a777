// A graph that two translation units of a program run.
#pragma once

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <vector>

namespace app {
namespace dv = dovetail;
using namespace dv::ops;
struct x;
struct y;
struct model : dv::graph<dv::input<x, dv::tensor<float, 4>>, dv::let<y, relu(x)>, dv::output<y>> {};

inline float run(float value) {
    float result = 0;
    dv::host::world{1}.run([&](auto& rank) {
        dv::executor<model> step{rank};
        step.bind(dv::name<x>, std::vector<float>(4, value));
        result = step.run().read(dv::name<y>)[3];
    });
    return result;
}
}  // namespace app
