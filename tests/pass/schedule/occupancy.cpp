// Which streams tasks occupy and where edges arrive, on random programs: against a look at every participation and every edge.
#include "support/random_program.hpp"

#include <dovetail/pass/schedule/occupancy.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace support;

TEST_CASE("a task occupies one stream on each of its roles, and every edge arrives at the role on which it lies") {
    long several = 0, edges_seen = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        program_knobs k;
        k.roles = 1 + static_cast<int>(seed % 5);
        const auto data = random_program(seed, k);
        const dv::ir::program p = dv::ir::view(data);
        const auto edges = all_conflicts(p);
        const dv::pass::occupancy got = dv::pass::occupancy_of(p, edges.view());

        CHECK(got.slots == k.roles * dv::stream_count);
        std::vector<std::vector<int>> place(static_cast<std::size_t>(p.tasks.size()),
                                            std::vector<int>(static_cast<std::size_t>(k.roles), -1));
        int count = 0;
        for (int v = 0; v < p.tasks.size(); ++v) {
            CHECK(got.occupants_of[v] == count);
            for (int role = 0; role < k.roles; ++role) {
                bool takes_part = false;
                for (const auto& x : p.participations.subspan(p.tasks[v].first_participation, p.tasks[v].participations))
                    takes_part |= x.role == role;
                if (!takes_part) continue;
                CHECK(got.slot[count] == role * dv::stream_count + static_cast<int>(p.tasks[v].stream));
                CHECK(got.task[count] == v);
                place[static_cast<std::size_t>(v)][static_cast<std::size_t>(role)] = count++;
            }
            several += count - got.occupants_of[v] > 1;
        }
        CHECK(got.occupants_of[p.tasks.size()] == count);

        std::vector<int> incoming(static_cast<std::size_t>(count));
        int at = 0;
        for (int v = 0; v < p.tasks.size(); ++v) {
            CHECK(got.first[v] == at);
            for (const dv::ir::edge& e : edges)
                if (e.from == v) {
                    const int arrival = place[static_cast<std::size_t>(e.to)][static_cast<std::size_t>(e.role)];
                    REQUIRE(arrival >= 0);
                    CHECK(got.arrival[at++] == arrival);
                    ++incoming[static_cast<std::size_t>(arrival)];
                    ++edges_seen;
                }
        }
        CHECK(got.first[p.tasks.size()] == at);
        for (int i = 0; i < count; ++i) CHECK(got.incoming[i] == incoming[static_cast<std::size_t>(i)]);
    }
    CHECK(several > 20);
    CHECK(edges_seen > 1000);
}
