// A graph in a header, with an operation of its own, that two translation units include.
#pragma once

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <vector>

namespace odr {
namespace dv = dovetail;
using namespace dv::ops;

struct value;
struct left;
struct right;
struct sum_of;
template <int> struct part;
template <int> struct half_of;

template <int I> using halves = dv::let<half_of<I>, relu(part<I>)>;

struct model : dv::graph<
    dv::input<value, dv::tensor<float, 4, 4>>,
    dv::on<left, dv::let<part<0>, matmul(value, value)>, dv::let<part<1>, relu(value)>>,
    dv::on<right, dv::repeat<halves, 2>, dv::let<sum_of, add(half_of<0>, half_of<1>)>>,
    dv::output<sum_of>> {};

// Addresses of what must be one object, and values of what must be one number.
struct facts {
    const void* plan;
    const void* program;
    const void* tag;
    long long predicted;
    long long peak;
    int hash_of_name;
};

inline facts here() {
    using planned = dv::plan::planned<model>;
    return {planned::plan.steps.begin(), planned::program.tasks.begin(), &dv::tag_of<half_of<1>>, planned::plan.predicted,
            dv::peak_bytes<model, right>, static_cast<int>(dv::tag_of<sum_of>.hash)};
}

// One run on two ranks: the sum that the right one reads.
inline float run() {
    float result = 0;
    dv::host::world{2}.run([&](auto& rank) {
        dv::executor<model> step{rank};
        const std::vector<float> ones(16, 1.0f);
        step.bind(dv::name<value>, ones);
        auto ticket = step.run();
        ticket.wait();
        if (rank.is(dv::name<right>)) result = ticket.read(dv::name<sum_of>)[5];
    });
    return result;
}

}  // namespace odr
