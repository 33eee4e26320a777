// Waits across runs, on unrolled runs against brute force: all conflicts are ordered, and no wait is superfluous.
#include "support/planned_streams.hpp"

#include <doctest/doctest.h>

using namespace support;

TEST_CASE("waits leave no race and none of them can go") {
    int in_run = 0, across = 0, idle = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        program_knobs k;
        k.tasks = 12 + static_cast<int>(seed % 30);
        k.roles = 1 + static_cast<int>(seed % 3);
        k.slots = 1 + static_cast<int>(seed / 3 % 3);
        k.window = 2 + static_cast<int>(seed % 9);
        k.empty = false;  // a dependency over no bytes has its wait all the same
        auto data = random_program(seed, k);
        auto edges = all_conflicts(dv::ir::view(data));
        auto order = random_order(seed, data.tasks.size(), edges, 1 + static_cast<int>(seed % 6));
        REQUIRE(order.size() == data.tasks.size());
        const planned p = plan_streams(std::move(data), std::move(edges), std::move(order));
        for (int r = 0; r < p.data.roles; ++r) {
            CHECK(races(p, r, p.event_slots() + 2) == 0);
            for (const auto* list : {&p.waits.waits, &p.wrap})
                for (const auto& w : *list) {
                    const auto& role = p.issued.roles[r];
                    if (w.step < role.first_step || w.step >= role.first_step + role.steps) continue;
                    CHECK((w.distance == 0 ? w.on < w.step : w.on > w.step));
                    (w.distance == 0 ? in_run : across)++;
                    if (races(p, r, p.event_slots() + 2, &w) == 0) {
                        ++idle;
                        MESSAGE("seed " << seed << " role " << r << " step " << w.step << " on " << w.on << " distance " << w.distance);
                    }
                }
        }
    }
    CHECK(idle == 0);
    MESSAGE(in_run << " waits within a run, " << across << " across runs");
}

namespace {

struct chain {
    dv::ir::program_data data;
    constexpr int buffer(dv::ir::storage where, int slots = 1) {
        dv::ir::buffer b;
        b.where = where;
        b.bytes = 1000;
        b.slots = slots;
        return support::add_whole(data, b);
    }
    constexpr void task(int read, int write) {
        data.tasks.push({data.participations.size(), 1, 0, 1});
        data.participations.push({0, 0, 0, data.accesses.size(), 0});
        if (read >= 0) data.accesses.push(support::whole(data, read, dv::access_mode::read));
        if (write >= 0) data.accesses.push(support::whole(data, write, dv::access_mode::write));
        data.participations.back().accesses = (read >= 0) + (write >= 0);
    }
};

// An input of two slots comes in on the copy stream, is read on the compute stream, and the result is reduced on the
// communication stream. Run k + 2 may bring in its input when run k has read its own; the value that is read by the
// reduction of run k is written by run k + 1.
constexpr int wraps() {
    chain c;
    const int x = c.buffer(dv::ir::storage::input, 2), y = c.buffer(dv::ir::storage::arena), z = c.buffer(dv::ir::storage::arena);
    c.task(-1, x);
    c.task(x, y);
    c.task(y, z);
    const int order[] = {0, 1, 2};
    const unsigned char stream[] = {2, 0, 1};
    const auto program = dv::ir::view(c.data);
    const auto issued = dv::pass::issue_order(program, {order, 3}, {stream, 3});
    const auto flow = dv::pass::synchronise(program, issued);
    const auto& waits = flow.waits;
    const auto memory = dv::pass::assign_buffers(program, issued, waits.known, flow.lives);
    const auto wrap = dv::pass::waits_across_runs(program, issued, waits, flow.lives, memory);
    if (memory.roles[0].arena_bytes != 2048 || memory.placements[0].offset != -1) return 1;
    if (waits.waits.size() != 2 || wrap.size() != 2) return 2;
    if (wrap[0].step != 1 || wrap[0].on != 2 || wrap[0].distance != 1) return 3;
    if (wrap[1].step != 0 || wrap[1].on != 1 || wrap[1].distance != 2) return 4;
    return 0;
}
static_assert(wraps() == 0);

}  // namespace
