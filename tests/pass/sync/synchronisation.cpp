// Lifetimes of buffers, on random programs against brute force: a buffer is dead before a step exactly if all its accesses happen before
// it.
#include "support/planned_streams.hpp"

#include <doctest/doctest.h>

using namespace support;

TEST_CASE("a buffer is dead before a step exactly where all its accesses happen before") {
    for (unsigned seed = 0; seed < 120; ++seed) {
        CAPTURE(seed);
        program_knobs k;
        k.roles = 1 + static_cast<int>(seed % 3);
        k.tasks = 20 + static_cast<int>(seed % 30);
        auto data = random_program(seed, k);
        auto edges = all_conflicts(dv::ir::view(data));
        auto order = random_order(seed, data.tasks.size(), edges, 5);
        planned p = plan_streams(std::move(data), std::move(edges), std::move(order));
        const auto program = p.program();
        for (int b = 0; b < program.buffers.size(); ++b) {
            const auto& buffer = program.buffers[b];
            if (buffer.alias >= 0) {
                CHECK(p.lives.definition[b] == -1);
                continue;
            }
            const auto& role = p.issued.roles[buffer.role];
            const reachability before = happens_before(p, buffer.role, 1);
            std::vector<int> touched;
            int definition = -1;
            bool output = false;
            for (int i = 0; i < program.buffers.size(); ++i) output = output || (bytes_owner(program, i) == b && program.buffers[i].output);
            for (int s = 0; s < role.steps; ++s)
                for (const auto& participation : program.participations.subspan(p.issued.steps[role.first_step + s].first_participation,
                                                                                p.issued.steps[role.first_step + s].participations))
                    for (const auto& a : program.accesses.subspan(participation.first_access, participation.accesses)) {
                        if (bytes_owner(program, a.buffer) != b) continue;
                        touched.push_back(s);
                        if (!dv::writes(a.mode)) continue;
                        if (definition < 0) definition = s;
                    }
            CHECK(p.lives.held[b] == output);
            CHECK(p.lives.definition[b] == (definition < 0 ? -1 : role.first_step + definition));
            for (int s = 0; s < role.steps; ++s) {
                bool dead = !output;
                for (int t : touched) dead = dead && before(t, s);
                CHECK(dead == dead_before(p.lives, b, p.waits.known[role.first_step + s]));
            }
        }
        int defined = 0;
        for (int b = 0; b < program.buffers.size(); ++b) defined += p.lives.definition[b] >= 0;
        CHECK(p.lives.defined.size() == defined);
        for (int r = 0; r < k.roles; ++r)
            for (int i = p.lives.first[r]; i < p.lives.first[r + 1]; ++i) {
                const int b = p.lives.defined[i];
                CHECK(program.buffers[b].role == r);
                if (i == p.lives.first[r]) continue;
                const int before = p.lives.defined[i - 1];
                CHECK((p.lives.definition[before] < p.lives.definition[b] ||
                       (p.lives.definition[before] == p.lives.definition[b] && before < b)));
            }
    }
}
