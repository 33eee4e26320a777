// The edges of a program: reads after definitions, states in written order, in-place results after other readers; and the report of
// cycles.
#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>
#include <dovetail/pass/program/edges.hpp>

#include "support/build.hpp"

#include <doctest/doctest.h>

namespace dv = dovetail;
using dv::access_mode;
using dv::ir::edge;
using dv::ir::edge_kind;
using support::build;

namespace app {
using namespace dv::ops;
struct x;
struct whole;
template <int> struct part;
template <int> struct used;
template <int I> using maker = dv::let<part<I>, relu(x)>;
template <int I> using user = dv::let<used<I>, relu(whole)>;
struct many_parts : dv::graph<dv::input<x, dv::tensor<float, 64>>, dv::repeat<maker, 64>, dv::let<whole, concat<dv::all<64, part>>>,
                              dv::repeat<user, 48>, dv::output<dv::all<48, used>>> {};
using key = dv::plan::detail::plan_key<many_parts, dv::options<>>::for_program;
// One for each pair, and one from the input to each part, within a compiler's limit of operations.
static_assert(dv::plan::detail::stage_table<key, dv::plan::stage::edges>.size() == 64 * 48 + 64);
}  // namespace app

namespace {

constexpr bool has(const dv::vec<edge>& list, int from, int to, edge_kind kind) {
    for (const edge& e : list)
        if (e.from == from && e.to == to && e.kind == kind) return true;
    return false;
}

constexpr dv::vec<edge> links(std::initializer_list<int> pairs) {
    dv::vec<edge> list;
    for (const int* i = pairs.begin(); i != pairs.end(); i += 2) list.push({i[0], i[1], 0, 0, edge_kind::flow});
    return list;
}

constexpr int cycle_length(int tasks, std::initializer_list<int> pairs) {
    return dv::pass::find_cycle(tasks, links(pairs).view()).size();
}
static_assert(cycle_length(3, {0, 1, 1, 2}) == 0);
static_assert(cycle_length(3, {0, 1, 1, 2, 2, 0}) == 3);

}  // namespace

TEST_CASE("a value is read after its definition, whatever the order of the tasks") {
    build b;
    const int x = b.buffer(0);
    b.task(dv::op_kind::compute, dv::stream_kind::compute, 1);  // 0 reads x, which 1 writes
    b.participation(0);
    b.touch(x, access_mode::read);
    b.touch(x, access_mode::read);
    b.task(dv::op_kind::compute, dv::stream_kind::compute, 1);
    b.participation(0);
    b.touch(x, access_mode::write);
    b.compute(0, {x}, 1);
    const auto list = dv::pass::edges(b.view());
    CHECK(list.size() == 2);
    CHECK(has(list, 1, 0, edge_kind::flow));
    CHECK(has(list, 1, 2, edge_kind::flow));
}

TEST_CASE("an in-place result waits for the other readers of the bytes it takes") {
    build b;
    const int x = b.compute(0, {}, 1);
    b.compute(0, {x}, 1);
    const int y = b.compute(0, {x}, 1);
    b.p.buffers[y].alias = x;
    b.compute(0, {x}, 1);
    const auto list = dv::pass::edges(b.view());
    CHECK(list.size() == 5);
    CHECK(has(list, 1, 2, edge_kind::anti));
    CHECK(has(list, 3, 2, edge_kind::anti));
}

TEST_CASE("states are touched in written order") {
    build b;
    const int s = b.state(0);
    SUBCASE("tasks in written order") {
        b.access_state(0, s, access_mode::read, 0);
        b.access_state(0, s, access_mode::read, 1);
        b.access_state(0, s, access_mode::write, 2);
        b.access_state(0, s, access_mode::update, 3);
        b.access_state(0, s, access_mode::write, 4);
        b.access_state(0, s, access_mode::read, 5);
        const auto list = dv::pass::edges(b.view());
        CHECK(list.size() == 5);
        CHECK(has(list, 0, 2, edge_kind::anti));
        CHECK(has(list, 1, 2, edge_kind::anti));
        CHECK(has(list, 2, 3, edge_kind::flow));
        CHECK(has(list, 3, 4, edge_kind::output));
        CHECK(has(list, 4, 5, edge_kind::flow));
    }
    SUBCASE("tasks in another order") {
        b.access_state(0, s, access_mode::read, 7);
        b.access_state(0, s, access_mode::update, 5);
        b.access_state(0, s, access_mode::read, 2);
        const auto list = dv::pass::edges(b.view());
        CHECK(list.size() == 2);
        CHECK(has(list, 2, 1, edge_kind::anti));
        CHECK(has(list, 1, 0, edge_kind::flow));
    }
}

TEST_CASE("the transfer of a state stands where its first reader is written") {
    build b{2};
    const int s = b.state(0);
    b.access_state(0, s, access_mode::write, 0);    // 0
    const int early = b.send(s, 1, 1);              // 1, read by node 1
    b.access_state(0, s, access_mode::update, 2);   // 2
    const int late = b.send(s, 1, 1);               // 3, read by node 4
    b.task(dv::op_kind::compute, dv::stream_kind::compute, 1, 4);
    b.participation(1);
    b.touch(late, access_mode::read);
    b.task(dv::op_kind::compute, dv::stream_kind::compute, 1, 1);
    b.participation(1);
    b.touch(early, access_mode::read);
    const auto list = dv::pass::edges(b.view());
    CHECK(has(list, 0, 1, edge_kind::flow));
    CHECK(has(list, 1, 2, edge_kind::anti));
    CHECK(has(list, 2, 3, edge_kind::flow));
    CHECK(has(list, 1, 5, edge_kind::flow));
    CHECK(has(list, 3, 4, edge_kind::flow));
}

TEST_CASE("constants and workspace make no edges") {
    build b;
    for (const auto where : {dv::ir::storage::constant, dv::ir::storage::workspace}) {
        const int x = b.buffer(0, 256, where);
        b.compute(0, {x}, 1);
        b.compute(0, {x}, 1);
    }
    CHECK(dv::pass::edges(b.view()).size() == 0);
}

TEST_CASE("adjacency lists edges by their ends, in the order of edges") {
    const auto list = links({2, 0, 0, 1, 2, 1, 0, 3});
    const auto out = dv::pass::successors(4, list.view());
    const auto in = dv::pass::predecessors(4, list.view());
    const auto check = [](const dv::vec<int>& v, std::initializer_list<int> expected) {
        REQUIRE(v.size() == static_cast<int>(expected.size()));
        for (int i = 0; i < v.size(); ++i) CHECK(v[i] == expected.begin()[i]);
    };
    check(out.first, {0, 2, 2, 4, 4});
    check(out.neighbour, {1, 3, 0, 1});
    check(out.edge, {1, 3, 0, 2});
    check(in.first, {0, 1, 3, 3, 4});
    check(in.neighbour, {2, 0, 2, 0});
}

TEST_CASE("a cycle is named in the order of its edges, from its smallest task") {
    const auto check = [](int tasks, std::initializer_list<int> pairs, std::initializer_list<int> expected) {
        const auto cycle = dv::pass::find_cycle(tasks, links(pairs).view());
        REQUIRE(cycle.size() == static_cast<int>(expected.size()));
        for (int i = 0; i < cycle.size(); ++i) CHECK(cycle[i] == expected.begin()[i]);
    };
    check(0, {}, {});
    check(4, {0, 1, 1, 2, 0, 2, 2, 3}, {});
    check(1, {0, 0}, {0});
    check(3, {0, 1, 1, 2, 2, 1}, {1, 2});
    check(6, {0, 5, 5, 1, 1, 4, 4, 5, 4, 2, 2, 3}, {1, 4, 5});
    check(4, {3, 1, 1, 2, 2, 0, 0, 3}, {0, 3, 1, 2});
}

TEST_CASE("a chain of a hundred thousand that closes") {
    dv::vec<edge> list;
    const int n = 100'000;
    for (int v = 0; v < n; ++v) list.push({v, (v + 1) % n, 0, 0, edge_kind::flow});
    CHECK(dv::pass::find_cycle(n, list.view()).size() == n);
}
