// Overlap role by role: the streams of a role are joined where that role ends earlier so, and nothing else changes.
#include <dovetail/pass/schedule/list_scheduling.hpp>
#include <dovetail/pass/schedule/one_stream_roles.hpp>

#include "support/build.hpp"

#include <doctest/doctest.h>

namespace dv = dovetail;
namespace pass = dovetail::pass;
using support::build;

namespace {

constexpr int computes = 0, communicates = 1;

struct planned {
    pass::schedule before, after;
};
constexpr planned join(const build& b, std::int64_t latency = 5, dv::objective_kind objective = dv::objective_kind::makespan) {
    dv::plan_options s;
    s.objective = objective;
    s.machine.edge_latency = latency;
    s.machine.with_communication = {};
    const auto edges = pass::edges(b.view());
    const auto order = pass::written_order(b.costs.size(), edges.view());
    const auto occupancy = pass::occupancy_of(b.view(), edges.view());
    planned made;
    made.before = pass::estimate_timeline(b.view(), occupancy, b.costs.view(), order.view(), s);
    made.after = made.before;
    pass::join_streams(made.after, b.view(), occupancy, b.costs.view(), s);
    return made;
}

// A collective beside a computation that does not need it.
constexpr int overlapping(build& b, int role) {
    const int x = b.compute(role, {}, 10);
    b.collect(role, x, 500);
    const int v = b.last();
    b.compute(role, {x}, 500);
    return v;
}
// A collective between two computations.
constexpr int in_turn(build& b, int role) {
    const int x = b.compute(role, {}, 10);
    const int y = b.collect(role, x, 50);
    const int v = b.last();
    b.compute(role, {y}, 10);
    return v;
}

}  // namespace

TEST_CASE("the role that gains nothing has one stream, the other one keeps its streams") {
    build b{2};
    const int hidden = overlapping(b, 0), exposed = in_turn(b, 1);
    const planned made = join(b);
    CHECK(made.before.stream[exposed] == communicates);
    CHECK(made.after.stream[exposed] == computes);
    CHECK(made.after.stream[hidden] == communicates);
    CHECK(made.before.end[b.last()] == 10 + 50 + 10 + 2 * 5);
    CHECK(made.after.end[b.last()] == 10 + 50 + 10);
    CHECK(made.after.length == made.before.length);
}

TEST_CASE("every role may have one stream") {
    build b{3};
    const int first = in_turn(b, 0), second = in_turn(b, 1), third = in_turn(b, 2);
    const planned made = join(b);
    for (const int v : {first, second, third}) CHECK(made.after.stream[v] == computes);
    CHECK(made.after.length == made.before.length - 10);
}

TEST_CASE("nothing is joined without a gain, for the time between runs, and in a graph of one role") {
    build b{2};
    in_turn(b, 0);
    in_turn(b, 1);
    CHECK(join(b).after.stream[1] == computes);
    CHECK(join(b, 0).after.stream[1] == communicates);
    CHECK(join(b, 5, dv::objective_kind::interval).after.stream[1] == communicates);
    build alone{1};
    CHECK(join(alone).after.length == 0);
    CHECK(join(alone).after.stream.empty());
    const int v = in_turn(alone, 0);
    CHECK(join(alone).after.stream[v] == communicates);
}

TEST_CASE("a role that communicates with another one by NCCL has all such calls on one stream") {
    build b{2};
    const int x = b.compute(1, {}, 10);
    const int y = b.collect(1, x, 50);
    const int own = b.last();
    const int z = b.compute(1, {y}, 10);
    b.send(z, 0, 10);
    CHECK(join(b).after.stream[own] == communicates);
    b.p.tasks[b.last()].stream = dv::stream_kind::copy;
    b.p.tasks[b.last()].moved_by = dv::transport::peer_copy;
    CHECK(join(b).after.stream[own] == computes);
}

TEST_CASE("copies stay on their stream") {
    build b{2};
    in_turn(b, 0);
    const int x = b.compute(1, {}, 10);
    b.collect(1, x, 50);
    b.p.tasks[b.last()].stream = dv::stream_kind::copy;
    CHECK(join(b).after.stream[b.last()] == static_cast<int>(dv::stream_kind::copy));
}

TEST_CASE("on random programs: the same order, no role later, and the calls of NCCL of a role on one stream") {
    int joined = 0;
    for (std::uint32_t seed = 0; seed < 2000; ++seed) {
        const int roles = 2 + static_cast<int>(seed % 3);
        const build b = support::random_program(seed, roles, 6 + static_cast<int>(seed % 10));
        const auto edges = pass::edges(b.view());
        const auto r = pass::occupancy_of(b.view(), edges.view());
        const planned made = join(b);
        CHECK(made.after.length >= 0);
        CHECK(made.after.length <= made.before.length);
        dv::vec<int> streams_of(roles);  // the streams with calls of NCCL, a bit each
        for (int i = 0; i < r.occupants_of[b.p.tasks.size()]; ++i) {
            const int v = r.task[i];
            if (b.p.tasks[v].stream != dv::stream_kind::communication) {
                CHECK(made.after.stream[v] == static_cast<int>(b.p.tasks[v].stream));
                continue;
            }
            streams_of[r.slot[i] / dv::stream_count] |= 1 << made.after.stream[v];
            joined += made.after.stream[v] == computes ? 1 : 0;
        }
        for (int role = 0; role < roles; ++role) {
            CHECK(streams_of[role] != 3);
            const auto end = [&](const pass::schedule& t) {
                return pass::detail::end_of_role(t, r, b.p.tasks.size(), role);
            };
            CHECK(end(made.after) <= end(made.before));
        }
        for (int k = 0; k < b.p.tasks.size(); ++k) CHECK(made.after.order[k] == made.before.order[k]);
    }
    CHECK(joined > 50);
}
