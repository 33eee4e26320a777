// The time between runs that follow one another: figures computed by hand, and on random programs its bounds.
#include <dovetail/plan/steady_state.hpp>

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>
#include <dovetail/plan/make.hpp>

#include "support/build.hpp"
#include "support/schedule_of.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace dv = dovetail;
namespace plan = dovetail::plan;
using support::build;

namespace {

dv::plan_options with(std::int64_t edge, int communication) {
    dv::plan_options s;
    s.machine.edge_latency = edge;
    s.machine.with_communication.of_compute[0] = communication;
    s.machine.with_communication.of_other[0] = 1000;
    s.machine.with_copy = {};
    return s;
}

struct prediction {
    std::int64_t run = 0;
    std::int64_t interval = 0;
};
prediction predict(const build& b, dv::candidate c, const dv::plan_options& s) {
    const auto edges = dv::pass::edges(b.view());
    const dv::pass::schedule t = support::schedule_of(c, b.view(), edges.view(), b.costs.view(), s);
    const plan::plan_data made = plan::emit(b.view(), t, t.length, 0);
    return {t.length, plan::interval(b.view(), b.costs.view(), dv::ir::view(made), s)};
}

// A computation and the reduction of its value, which has this many slots.
build reduced(std::int64_t compute, std::int64_t reduction, int slots) {
    build b;
    const int x = b.compute(0, {}, compute);
    const int y = b.collect(0, x, reduction);
    b.p.buffers[x].slots = b.p.buffers[y].slots = slots;
    return b;
}

}  // namespace

TEST_CASE("with one slot the next run computes when the value has been sent, with two beside that") {
    CHECK(predict(reduced(100, 60, 1), dv::candidate::written, with(0, 1000)).run == 160);
    CHECK(predict(reduced(100, 60, 1), dv::candidate::written, with(0, 1000)).interval == 160);
    CHECK(predict(reduced(100, 60, 2), dv::candidate::written, with(0, 1000)).interval == 100);
    CHECK(predict(reduced(60, 100, 2), dv::candidate::written, with(0, 1000)).interval == 100);
    // Each of the two waits has a latency.
    CHECK(predict(reduced(100, 60, 1), dv::candidate::written, with(7, 1000)).interval == 174);
}

TEST_CASE("runs slow each other") {
    // 30 of 100 are done in the 60 beside the reduction of the run before.
    CHECK(predict(reduced(100, 60, 2), dv::candidate::written, with(0, 2000)).interval == 130);
}

TEST_CASE("on one stream a run follows the other; roles work on different runs") {
    CHECK(predict(reduced(100, 60, 2), dv::candidate::sequential, with(0, 1000)).interval == 160);
    build b{2};
    b.compute(1, {b.send(b.compute(0, {}, 100), 1, 10)}, 80);
    CHECK(predict(b, dv::candidate::sequential, with(0, 1000)).run == 190);
    CHECK(predict(b, dv::candidate::sequential, with(0, 1000)).interval == 110);
}

TEST_CASE("the interval lies between the work of the busiest stream and the time of a run") {
    for (std::uint32_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        build b = support::random_program(seed, 1 + static_cast<int>(seed % 3), 5 + static_cast<int>(seed % 25));
        support::numbers any{seed};
        for (dv::ir::buffer& x : b.p.buffers)
            if (x.where == dv::ir::storage::arena) x.slots = 1 + any.below(3);
        const auto found = predict(b, dv::candidate::written, with(0, 1000));
        std::vector<std::int64_t> busy(static_cast<std::size_t>(b.p.roles * dv::stream_count));
        const auto occupancy = dv::pass::occupancy_of(b.view(), dv::span<const dv::ir::edge>{});
        for (int i = 0; i < occupancy.occupants_of[b.p.tasks.size()]; ++i)
            busy[static_cast<std::size_t>(occupancy.slot[i])] += b.costs[occupancy.task[i]].time;
        for (const std::int64_t work : busy) CHECK(found.interval >= work);
        CHECK(found.interval <= found.run);
    }
}

TEST_CASE("as many runs are simulated as the bound allows") {
    CHECK(plan::unrolling_of(10, 1).runs == 4);
    CHECK(plan::unrolling_of(10, 3).runs == 10);
    CHECK(plan::unrolling_of(10, 3).last - plan::unrolling_of(10, 3).first == 3);
    for (const int tasks : {1, 10, 100, 300, 500, plan::most_unrolled_tasks / 2})
        for (const int slots : {1, 2, 4, 64}) {
            const plan::unrolling u = plan::unrolling_of(tasks, slots);
            CHECK(u.runs * tasks <= plan::most_unrolled_tasks);
            CHECK(u.last < u.runs);
            CHECK(u.first < u.last);
        }
}

namespace app {
using namespace dv::ops;
struct x;
struct y;
struct z;
struct w;
struct dp;
using matrix = dv::tensor<dv::half, 8192, 8192>;
// A run reduces in the end; the next run can compute meanwhile if its output has a slot of its own.
struct model : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::input<x, matrix>, dv::let<y, matmul(x, x)>, dv::let<z, all_reduce<sum, dp>(y)>,
                         dv::output<y, z>> {};
}  // namespace app

TEST_CASE("the fact, and the objective that compares candidates by it") {
    using one = dv::options<>;
    using two = dv::options<dv::in_flight<2>>;
    using steady = dv::options<dv::in_flight<2>, dv::objective<dv::interval>>;
    CHECK(dv::predicted_interval<app::model, one> <= dv::predicted_time<app::model, one>);
    CHECK(dv::predicted_interval<app::model, steady> < dv::predicted_time<app::model, steady>);
    CHECK(dv::predicted_interval<app::model, steady> < dv::predicted_interval<app::model, two>);
    // One run alone is not shorter on three streams: everything depends on the one before.
    static_assert(!plan::planned<app::model, two>::plan.overlapped && plan::planned<app::model, steady>::plan.overlapped);
    const plan::choice& chosen = plan::planned<app::model, steady>::plan.choice;
    CHECK(chosen.predicted[static_cast<int>(chosen.taken)] == dv::predicted_interval<app::model, steady>);
    CHECK(chosen.predicted[static_cast<int>(dv::candidate::sequential)] == dv::predicted_interval<app::model, two>);
}
