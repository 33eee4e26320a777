// The tables of a plan: every wait appears once, and every step that is waited for has an event.
#include "support/planned_streams.hpp"

#include <dovetail/plan/make.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace support;

TEST_CASE("the layout holds every wait once, and an event for each step that is waited for") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        program_knobs k;
        k.roles = 1 + static_cast<int>(seed % 4);
        k.slots = 1 + static_cast<int>(seed % 3);
        const planned p = plan_streams(random_program(seed, k));
        dv::vec<std::int64_t> start, end;
        for (int v = 0; v < p.order.size(); ++v) {
            start.push(v);
            end.push(2 * v + 1);
        }
        const dv::pass::schedule times{p.order, p.stream, start, end, 1000, true};
        const dv::plan::plan_data emitted = dv::plan::emit(p.program(), times, 2000, 0);
        CHECK(emitted.predicted == 1000);
        CHECK(emitted.predicted_sequential == 2000);
        CHECK(emitted.overlapped);
        CHECK(emitted.waits.size() == p.waits.waits.size() + p.wrap.size());
        int next = 0, event_slots = 1;
        for (int r = 0; r < k.roles; ++r) {
            const auto& role = emitted.roles[r];
            CHECK(role.arena_bytes == p.memory.roles[r].arena_bytes);
            int events = 0;
            for (int i = 0; i < role.steps; ++i) {
                const int s = role.first_step + i;
                const auto& step = emitted.steps[s];
                CHECK(step.task == p.issued.steps[s].task);
                CHECK(step.start == step.task);
                CHECK(step.end == 2 * step.task + 1);
                CHECK(step.first_wait == next);
                next += step.waits;
                bool waited_for = false;
                std::vector<std::pair<int, int>> expected, found;
                for (const auto* list : {&p.waits.waits, &p.wrap})
                    for (const auto& w : *list) {
                        waited_for = waited_for || w.on == s;
                        if (w.step == s) expected.push_back({w.on - role.first_step, w.distance});
                    }
                CHECK(step.event == (waited_for ? events++ : -1));
                for (const auto& w : emitted.waits.view().subspan(step.first_wait, step.waits)) {
                    found.push_back({w.step, w.distance});
                    CHECK(emitted.steps[role.first_step + w.step].event == w.event);
                    if (w.distance > event_slots) event_slots = w.distance;
                }
                std::sort(expected.begin(), expected.end());
                std::sort(found.begin(), found.end());
                CHECK(expected == found);
            }
            CHECK(role.events == events);
        }
        CHECK(emitted.event_slots == event_slots);
        for (int b = 0; b < p.data.buffers.size(); ++b) CHECK(emitted.placements[b].offset == p.memory.placements[b].offset);
        const std::int64_t most = dv::ir::largest_bytes(emitted.roles.view());
        CHECK(dv::plan::emit(p.program(), times, 2000, most).steps.size() == emitted.steps.size());
        if (most < 2) continue;
        const dv::plan::plan_data refused = dv::plan::emit(p.program(), times, 2000, most - 1);
        CHECK(dv::ir::largest_bytes(refused.roles.view()) == most);
        CHECK(!dv::plan::within(most - 1, refused.roles.view()));
    }
}
