// Programs of collectives over roles that mean something else than their graph, although all tables agree with each other.
#include "../../support/samples.hpp"
#include "support/planner.hpp"

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>
#include <dovetail/plan/make.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace dv = dovetail;

namespace {

namespace app = samples;

template <class G>
struct planned {
    dv::ir::graph graph = dv::plan::typed<G>::value;
    dv::plan::made made = support::make_plan(graph, dv::plan_options{});
    dv::ir::program_data& program = made.program;

    std::string found() const {
        return dv::plan::name_of(support::prove_plan(graph, dv::ir::view(made.program), dv::ir::view(made.plan), dv::plan_options{}).what);
    }
    int collective() const {
        int m = 0;
        while (program.members[m].node < 0 || graph.nodes[program.members[m].node].role >= 0) ++m;
        return m;
    }
    void exchange_group_indices() {
        for (auto& participation : program.participations)
            if (participation.member == collective() && participation.group_index < 2)
                participation.group_index = 1 - participation.group_index;
    }
    void turn_communicator() {
        const auto& c = program.communicators[program.members[collective()].communicator];
        std::swap(program.communicator_roles[c.first_role], program.communicator_roles[c.first_role + 1]);
    }
    // The accesses that a statement of a role makes to what the collective gives, in order.
    std::vector<dv::ir::access*> readers() {
        std::vector<dv::ir::access*> found;
        const int result = program.members[collective()].symbol;
        for (const auto& participation : program.participations)
            for (int i = participation.first_access; i < participation.first_access + participation.accesses; ++i)
                if (dv::reads(program.accesses[i].mode) && program.buffers[program.accesses[i].buffer].symbol == result)
                    found.push_back(&program.accesses[i]);
        return found;
    }
};

}  // namespace

TEST_CASE_TEMPLATE("what is planned is proven", G, app::gathered, app::scattered, app::shared_out, dv::single_rank<app::gathered>,
                   dv::single_rank<app::scattered>, dv::single_rank<app::shared_out>) {
    CHECK(planned<G>{}.found() == "none");
}

TEST_CASE_TEMPLATE("two roles that change places in a collective", G, app::gathered, app::scattered, app::shared_out) {
    planned<G> s;
    s.exchange_group_indices();
    CHECK(s.found() != "none");
    s.turn_communicator();
    CHECK(s.found() != "none");
}

TEST_CASE_TEMPLATE("... single_rank", G, dv::single_rank<app::gathered>, dv::single_rank<app::scattered>,
                   dv::single_rank<app::shared_out>) {
    planned<G> s;
    s.exchange_group_indices();
    CHECK(s.found() != "none");
}

TEST_CASE_TEMPLATE("another root", G, app::scattered, app::shared_out, dv::single_rank<app::scattered>, dv::single_rank<app::shared_out>) {
    for (int root = 0; root < 3; ++root) {
        planned<G> s;
        int& was = s.program.members[s.collective()].root;
        if (was == root) continue;
        was = root;
        CHECK(s.found() == "node_mismatch");
    }
}

TEST_CASE_TEMPLATE("a role reads the piece of another one", G, dv::single_rank<app::scattered>, dv::single_rank<app::shared_out>) {
    planned<G> s;
    const auto readers = s.readers();
    REQUIRE(readers.size() == 2);
    std::swap(*readers[0], *readers[1]);
    CHECK(s.found() == "wrong_access");
}

TEST_CASE_TEMPLATE("outputs", G, app::gathered, app::shared_out, dv::single_rank<app::shared_out>) {
    planned<G> whole;
    for (int b = 0; b < whole.program.buffers.size(); ++b) {
        if (whole.program.buffers[b].symbol < 0 || whole.graph.symbols[whole.program.buffers[b].symbol].kind != dv::ir::symbol_kind::value)
            continue;
        planned<G> s;
        s.program.buffers[b].output = !s.program.buffers[b].output;
        CAPTURE(b);
        CHECK(s.found() != "none");
    }
}

TEST_CASE_TEMPLATE("equal offsets that are not asked for", G, app::gathered, app::scattered, app::shared_out) {
    planned<G> s;
    int forgotten = 0;
    for (auto& b : s.program.buffers) {
        if (b.symmetric_set < 0) continue;
        b.symmetric_set = -1;
        ++forgotten;
    }
    CHECK(forgotten >= 2);
    CHECK(s.found() == "symmetric_offset");
}

// Otherwise it would seem that the collective's others cannot lie there.
TEST_CASE("a buffer that lies with those of another collective, on roles that this one does not join") {
    using G = samples::overlapping_collectives;
    const planned<G> whole;
    int moved = 0;
    for (int b = 0; b < whole.made.program.buffers.size(); ++b)
        for (int other = 0; other < whole.made.program.buffers.size(); ++other) {
            planned<G> s;
            dv::ir::buffer& x = s.program.buffers[b];
            const int symmetric_set = s.program.buffers[other].symmetric_set;
            bool joined = x.symmetric_set < 0 || symmetric_set < 0;
            for (const dv::ir::buffer& y : s.program.buffers) joined = joined || (y.symmetric_set == symmetric_set && y.role == x.role);
            if (joined) continue;
            x.symmetric_set = symmetric_set;
            s.made.plan.placements[b] = s.made.plan.placements[other];
            std::int64_t& bytes = s.made.plan.roles[x.role].arena_bytes;
            bytes = std::max(bytes, s.made.plan.placements[b].offset + dv::ir::aligned(x.bytes));
            CAPTURE(b);
            CAPTURE(symmetric_set);
            CHECK(s.found() == "symmetric_offset");
            ++moved;
        }
    CHECK(moved > 0);
}

TEST_CASE("positions of a permute that are not the graph's") {
    planned<app::permuted> s;
    CHECK(s.found() == "none");
    const dv::position_pair pairs[] = {{0, 1}, {2, 3}};
    for (dv::ir::member& m : s.program.members) {
        if (m.kind != dv::op_kind::permute) continue;
        dv::operation other = *m.op;
        other.pairs = pairs;
        other.pair_count = 2;
        const dv::operation* const was = std::exchange(m.op, &other);
        CHECK(s.found() == "node_mismatch");
        m.op = was;
    }
    CHECK(s.found() == "none");
}
