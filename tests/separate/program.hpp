// The declarations shared by the units of the program under test: a graph with a role for each of two ranks, and every use of an executor.
#pragma once

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/ops/ops.hpp>

#include <vector>

namespace app {
namespace dv = dovetail;
using namespace dv::ops;

struct start;
struct total;
struct doubled;
struct left;
struct right;
using vector = dv::tensor<float, 4>;

struct model : dv::graph<
    dv::input<start, vector>,
    dv::on<left, dv::state<total, vector, zeros>, dv::update<total, add(total, start)>, dv::let<doubled, add(total, total)>>,
    dv::on<right, dv::let<struct result, relu(doubled)>>,
    dv::output<result>> {};

// Two runs on a rank: the second adds to what the store holds after the first.
template <class Rank>
float run(Rank& rank) {
    dv::store states{rank};
    dv::executor<model> step{rank, states, dv::record_times};
    const std::vector<float> values(4, 1.5f);
    step.bind(dv::name<start>, values);
    step.run().wait();
    if (step.is(dv::name<left>)) step.write_state(dv::name<total>, std::vector<float>(4, 2.0f));
    const auto ticket = step.run();
    ticket.wait_for(std::chrono::minutes{1});
    if (rank.is(dv::name<left>))
        return step.read_state(dv::name<total>)[3] == 3.5f && states.template read<vector>(dv::name<total>)[0] == 3.5f ? 0 : -1;
    return ticket.times().empty() ? -1 : ticket.read(dv::name<result>)[3];
}

}  // namespace app
