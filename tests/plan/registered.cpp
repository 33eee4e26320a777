// Which communications may pass registered memory: all ranks pass buffers of their arenas, at equal offsets, or none does.
#include "support/samples.hpp"

#include <dovetail/plan/registered.hpp>

#include <doctest/doctest.h>

namespace {

using namespace samples;

// Of the communication that makes a name's value, or moves it to another role.
template <class G, class Name, class Options = overlapped>
bool may_be_registered() {
    const dv::ir::program& p = dv::plan::planned<G, Options>::program;
    for (int v = 0; v < p.tasks.size(); ++v)
        for (int m = p.tasks[v].first_member; m < p.tasks[v].first_member + p.tasks[v].members; ++m)
            if (dv::is_communication(p.members[m].kind) && p.members[m].symbol == dv::plan::symbol_of<G, Name>)
                return dv::plan::may_be_registered(p, dv::plan::planned<G, Options>::plan, v, m);
    FAIL("no such communication");
    return false;
}

struct weights;
struct from_outside : dv::graph<
    dv::input<x, vector>,
    dv::mesh<dv::axis<dp, 2>>,
    dv::state<weights, vector, zeros>,
    dv::let<a, add(x, weights)>,
    dv::let<b, all_reduce<sum, dp>(x)>,                        // all of it from the caller's memory, on every rank
    dv::let<c, broadcast<dp, root_index<1>>(x)>,                // the root alone from the caller's
    dv::let<d, broadcast<dp, root_index<1>>(a)>,
    dv::let<e, shift<dp, +1>(weights)>,
    dv::let<f, shift<dp, +1>(a)>,
    dv::update<weights, all_reduce<sum, dp>(weights)>,
    dv::output<b, c, d, e, f>> {};

// Who gives gets nothing, and has another value that keeps its bytes.
struct given_away : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<b, add(x, x)>, dv::let<a, multiply(b, x)>, dv::let<stage<0>, add(a, b)>>,
    dv::let<d, broadcast<to<middle, right>>(a)>,
    dv::on<middle, dv::let<stage<1>, copy(d)>>,
    dv::on<right, dv::let<stage<2>, copy(d)>>,
    dv::output<b, stage<0>, stage<1>, stage<2>>> {};

struct from_outside_on_one : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::input<a, vector>, dv::let<stage<0>, copy(d)>>,
    dv::on<right, dv::let<b, add(x, a)>, dv::let<stage<1>, copy(d)>>,
    dv::let<d, all_reduce<sum>(a, b)>,
    dv::output<stage<0>, stage<1>>> {};

}  // namespace

TEST_CASE("along an axis all ranks do the same; a send and its receive must both be registered") {
    CHECK(may_be_registered<from_outside, b>());
    CHECK(!may_be_registered<from_outside, c>());
    CHECK(may_be_registered<from_outside, d>());
    CHECK(!may_be_registered<from_outside, e>());
    CHECK(may_be_registered<from_outside, f>());
    CHECK(may_be_registered<from_outside, weights>());
}

TEST_CASE("the own rows are copied without NCCL") { CHECK(may_be_registered<along_an_axis, own>()); }

TEST_CASE("over roles, all members lie at one offset or in nobody's arena") {
    CHECK(may_be_registered<overlapping_collectives, d>());
    CHECK(may_be_registered<overlapping_collectives, e>());
    CHECK(may_be_registered<overlapping_collectives, f>());
    CHECK(may_be_registered<taken_twice, d>());
    CHECK(!may_be_registered<taken_twice, e>());
    CHECK(!may_be_registered<from_outside_on_one, d>());
}

TEST_CASE("who only gives in a broadcast passes its argument as its result") {
    using made = dv::plan::planned<given_away, overlapped>;
    std::int64_t given = -1, got = -2;
    for (int b = 0; b < made::program.buffers.size(); ++b) {
        if (made::program.buffers[b].symbol == dv::plan::symbol_of<given_away, a>) given = made::plan.placements[b].offset;
        if (made::program.buffers[b].symbol == dv::plan::symbol_of<given_away, d>) got = made::plan.placements[b].offset;
    }
    CHECK(given == got);
    CHECK(may_be_registered<given_away, d>());
}

TEST_CASE("a channel from an arena, and from elsewhere") {
    CHECK(may_be_registered<crossing_pair, a>());
    CHECK(!may_be_registered<from_outside_on_one, a>());
}

TEST_CASE("what is moved is not registered any more") {
    using made = dv::plan::planned<overlapping_collectives, overlapped>;
    const dv::ir::program& p = made::program;
    dv::vec<dv::ir::placement> places{made::plan.placements};
    dv::plan::plan moved = made::plan;
    moved.placements = places.view();
    int before = 0, after = 0;
    const auto count = [&] {
        int n = 0;
        for (int v = 0; v < p.tasks.size(); ++v)
            if (dv::is_communication(p.tasks[v].kind)) n += dv::plan::may_be_registered(p, moved, v, p.tasks[v].first_member) ? 1 : 0;
        return n;
    };
    before = count();
    for (int b = 0; b < p.buffers.size(); ++b)
        if (p.buffers[b].symbol == dv::plan::symbol_of<overlapping_collectives, a>) places[b].offset += dv::ir::alignment;
    after = count();
    CHECK(before == 3);
    CHECK(after == 1);  // a is not of e
}
