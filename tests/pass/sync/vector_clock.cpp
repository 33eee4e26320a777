// Vector clocks: the waits within a run are the transitive reduction of the dependencies.
#include "support/planned_streams.hpp"

#include <doctest/doctest.h>

using namespace support;

TEST_CASE("waits within a run are the transitive reduction of the dependencies, clocks their closure") {
    int edges_across = 0, waits = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        program_knobs k;
        k.tasks = 10 + static_cast<int>(seed % 60);
        k.roles = 1 + static_cast<int>(seed % 4);
        auto data = random_program(seed, k);
        auto edges = all_conflicts(dv::ir::view(data));
        auto order = random_order(seed, data.tasks.size(), edges, 1 + static_cast<int>(seed % 7));
        planned p = plan_streams(std::move(data), std::move(edges), std::move(order));
        p.wrap.clear();
        const auto program = p.program();
        waits += p.waits.waits.size();
        for (int r = 0; r < k.roles; ++r) {
            const auto& role = p.issued.roles[r];
            const auto& steps = p.issued.steps;
            // What the dependencies and the streams say.
            reachability wanted{role.steps};
            std::vector<int> step_of(static_cast<std::size_t>(program.tasks.size()), -1);
            for (int s = role.first_step; s < role.first_step + role.steps; ++s) step_of[static_cast<std::size_t>(steps[s].task)] = s;
            int last[dv::stream_count] = {-1, -1, -1};
            for (int s = 0; s < role.steps; ++s) {
                int& before = last[steps[role.first_step + s].stream];
                if (before >= 0) wanted.edge(before, s);
                before = s;
            }
            for (const auto& e : p.edges)
                if (e.role == r) {
                    const int from = step_of[static_cast<std::size_t>(e.from)], to = step_of[static_cast<std::size_t>(e.to)];
                    wanted.edge(from - role.first_step, to - role.first_step);
                    edges_across += steps[from].stream != steps[to].stream;
                }
            wanted.close();
            const reachability given = happens_before(p, r, 1);
            for (int a = 0; a < role.steps; ++a)
                for (int b = 0; b < role.steps; ++b) {
                    if (a == b) continue;
                    const int sa = role.first_step + a, sb = role.first_step + b;
                    CHECK(wanted(a, b) == given(a, b));
                    CHECK(wanted(a, b) == (p.issued.index_on_stream[sa] < p.waits.known[sb].known[steps[sa].stream]));
                }
            for (const auto& w : p.waits.waits) {
                if (w.step < role.first_step || w.step >= role.first_step + role.steps) continue;
                CHECK(steps[w.step].stream != steps[w.on].stream);
                CHECK(!happens_before(p, r, 1, &w)(w.on - role.first_step, w.step - role.first_step));
            }
        }
        for (int i = 1; i < p.waits.waits.size(); ++i) CHECK(p.waits.waits[i - 1].step <= p.waits.waits[i].step);
    }
    MESSAGE(edges_across << " dependencies across streams became " << waits << " waits");
}

TEST_CASE("everything on one stream needs no waits") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        program_knobs k;
        k.roles = 1 + static_cast<int>(seed % 3);
        k.slots = 1 + static_cast<int>(seed % 2);
        k.one_stream = true;
        const planned p = plan_streams(random_program(seed, k));
        CHECK(p.waits.waits.empty());
        CHECK(p.wrap.empty());
    }
}

namespace {

// a on stream 0, b = f(a) on stream 1, c = g(a, b) on stream 0 behind d: c waits for b alone, and b for a.
constexpr bool diamond() {
    dv::ir::program_data d;
    for (int i = 0; i < 4; ++i) d.tasks.push({i, 1, i, 1});
    for (int i = 0; i < 2; ++i) d.buffers.push({});
    const dv::ir::access accesses[] = {{0, dv::access_mode::write},
                                       {0, dv::access_mode::read},
                                       {1, dv::access_mode::write},
                                       {0, dv::access_mode::read},
                                       {1, dv::access_mode::read}};
    for (const dv::ir::access& a : accesses) d.accesses.push(a);
    support::make_whole(d);
    d.participations.push({0, 0, 0, 0, 1});
    d.participations.push({0, 0, 0, 1, 2});
    d.participations.push({0, 0, 0, 3, 0});
    d.participations.push({0, 0, 0, 3, 2});
    const int order[] = {0, 1, 2, 3};
    const unsigned char stream[] = {0, 1, 0, 0};
    const auto program = dv::ir::view(d);
    const auto issued = dv::pass::issue_order(program, {order, 4}, {stream, 4});
    const auto flow = dv::pass::synchronise(program, issued);
    const auto& w = flow.waits;
    return w.waits.size() == 2 && w.waits[0].step == 1 && w.waits[0].on == 0 && w.waits[1].step == 3 && w.waits[1].on == 1 &&
           w.known[3].known[0] == 2 && w.known[3].known[1] == 1 && w.known[2].known[1] == 0;
}
static_assert(diamond());

}  // namespace
