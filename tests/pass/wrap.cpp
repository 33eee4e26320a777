#include "support/lanes.hpp"

#include <doctest/doctest.h>

using namespace support;

TEST_CASE("waits leave no race and none of them can go") {
    int in_run = 0, across = 0, idle = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        program_knobs k;
        k.vertices = 12 + static_cast<int>(seed % 30);
        k.roles = 1 + static_cast<int>(seed % 3);
        k.slots = 1 + static_cast<int>(seed / 3 % 3);
        k.window = 2 + static_cast<int>(seed % 9);
        k.empty = false;  // a dependency over no bytes has its wait all the same
        auto data = random_program(seed, k);
        auto edges = all_conflicts(dv::ir::view(data));
        auto order = random_order(seed, data.vertices.size(), edges, 1 + static_cast<int>(seed % 6));
        REQUIRE(order.size() == data.vertices.size());
        const planned p = plan_lanes(std::move(data), std::move(edges), std::move(order));
        const auto laid = dv::pass::lay_out(p.issued, p.memory.roles.view(), p.waits.waits.view(), p.wrap.view());
        for (int r = 0; r < p.data.roles; ++r) {
            CHECK(races(p, r, laid.rings + 2) == 0);
            for (const auto* list : {&p.waits.waits, &p.wrap})
                for (const auto& w : *list) {
                    const auto& role = p.issued.roles[r];
                    if (w.step < role.first_step || w.step >= role.first_step + role.steps) continue;
                    CHECK((w.lag == 0 ? w.on < w.step : w.on > w.step));
                    (w.lag == 0 ? in_run : across)++;
                    if (races(p, r, laid.rings + 2, &w) == 0) {
                        ++idle;
                        MESSAGE("seed " << seed << " role " << r << " step " << w.step << " on " << w.on << " lag " << w.lag);
                    }
                }
        }
    }
    CHECK(idle == 0);
    MESSAGE(in_run << " waits within a run, " << across << " across runs");
}
