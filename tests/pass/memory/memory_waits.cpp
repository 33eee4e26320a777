// Waits for memory, on random programs: by brute force over unrolled runs they leave no race, each of them is needed, and a program whose
// steps wait for data alone has races.
#include "support/booked_streams.hpp"

#include <doctest/doctest.h>

using namespace support;

namespace {

dv::ir::program_data drawn(unsigned seed) {
    program_knobs k;
    k.tasks = 12 + static_cast<int>(seed % 30);
    k.roles = 1 + static_cast<int>(seed % 3);
    k.slots = 1 + static_cast<int>(seed / 3 % 2);
    k.window = 2 + static_cast<int>(seed % 9);
    k.empty = false;
    return random_program(seed, k);
}

int race_count(const planned& p) {
    int found = 0;
    for (int r = 0; r < p.data.roles; ++r) found += races(p, r, p.event_slots() + 1);
    return found;
}

}  // namespace

TEST_CASE("a booked program has no race, and would have some if its steps waited for data alone") {
    int added = 0, unsafe = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        booked b = book_streams(seed, drawn(seed), budgets[seed % 8]);
        CHECK(race_count(b.plan) == 0);
        const auto data_alone = dv::pass::synchronise(b.plan.program(), b.plan.issued);
        if (b.plan.waits.waits.size() <= data_alone.waits.waits.size()) continue;
        ++added;
        b.plan.waits = data_alone.waits;
        b.plan.wrap = dv::pass::waits_across_runs(b.plan.program(), b.plan.issued, b.plan.waits, data_alone.lives, b.plan.memory);
        unsafe += race_count(b.plan) > 0 ? 1 : 0;
    }
    MESSAGE(added << " programs with more waits than data needs, " << unsafe << " with races without them");
    CHECK(added > 20);
    CHECK(unsafe == added);
}

TEST_CASE("each wait of a booked program orders two accesses that nothing else orders") {
    int waits = 0, idle = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        const booked b = book_streams(seed, drawn(seed), budgets[seed % 8]);
        for (const auto* list : {&b.plan.waits.waits, &b.plan.wrap})
            for (const dv::pass::pending_wait& w : *list) {
                int found = 0;
                for (int r = 0; r < b.plan.data.roles; ++r) found += races(b.plan, r, b.plan.event_slots() + 1, &w);
                ++waits;
                idle += found == 0 ? 1 : 0;
            }
    }
    MESSAGE(waits << " waits, " << idle << " that order nothing");
    CHECK(idle == 0);
}

TEST_CASE("the edges of waits for memory agree with the booked order and its times") {
    int added = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        const booked b = book_streams(seed, drawn(seed), budgets[seed % 8]);
        const auto all = dv::pass::with_memory_waits(b.plan.program(), b.booking, b.memory, b.plan.edges.view());
        REQUIRE(all.size() >= b.plan.edges.size());
        for (int e = b.plan.edges.size(); e < all.size(); ++e) {
            CHECK(b.booking.end[all[e].from] <= b.booking.start[all[e].to]);
            ++added;
        }
    }
    CHECK(added > 100);
}

TEST_CASE("the bytes of a booked memory are those of the largest role") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const booked b = book_streams(seed, drawn(seed), 150);
        std::int64_t most = 0;
        for (const dv::ir::role_plan& role : b.plan.memory.roles) most = std::max(most, role.arena_bytes + role.state_bytes);
        CHECK(b.memory.bytes == most);
    }
}
