#include "support/lanes.hpp"

#include <doctest/doctest.h>

using namespace support;

TEST_CASE("a buffer is dead before a step exactly where all its accesses happen before") {
    for (unsigned seed = 0; seed < 120; ++seed) {
        CAPTURE(seed);
        program_knobs k;
        k.roles = 1 + static_cast<int>(seed % 3);
        k.vertices = 20 + static_cast<int>(seed % 30);
        auto data = random_program(seed, k);
        auto edges = all_conflicts(dv::ir::view(data));
        auto order = random_order(seed, data.vertices.size(), edges, 5);
        planned p = plan_lanes(std::move(data), std::move(edges), std::move(order));
        const auto program = p.program();
        for (int b = 0; b < program.buffers.size(); ++b) {
            const auto& buffer = program.buffers[b];
            const auto& life = p.lives.of[b];
            if (buffer.alias >= 0) {
                CHECK(life.definition == -1);
                continue;
            }
            const auto& role = p.issued.roles[buffer.role];
            const reachability before = happens_before(p, buffer.role, 1);
            std::vector<int> touched;
            int definition = -1, last_write = -1;
            bool output = false;
            for (int i = 0; i < program.buffers.size(); ++i) output = output || (bytes_owner(program, i) == b && program.buffers[i].output);
            for (int s = 0; s < role.steps; ++s)
                for (const auto& part : program.parts.part(p.issued.steps[role.first_step + s].first_part, p.issued.steps[role.first_step + s].parts))
                    for (const auto& a : program.accesses.part(part.first_access, part.accesses)) {
                        if (bytes_owner(program, a.buffer) != b) continue;
                        touched.push_back(s);
                        if (!dv::writes(a.mode)) continue;
                        if (definition < 0) definition = s;
                        last_write = s;
                    }
            CHECK(life.held == output);
            CHECK(life.definition == (definition < 0 ? -1 : role.first_step + definition));
            CHECK(life.last_write == (last_write < 0 ? -1 : role.first_step + last_write));
            for (int s = 0; s < role.steps; ++s) {
                bool dead = !output;
                for (int t : touched) dead = dead && before(t, s);
                CHECK(dead == dv::pass::dead_before(life, p.waits.known[role.first_step + s]));
            }
        }
        for (int s = 0; s < p.issued.steps.size(); ++s)
            for (int b = p.lives.defined[s]; b >= 0; b = p.lives.next[b]) {
                CHECK(p.lives.of[b].definition == s);
                CHECK((p.lives.next[b] < 0 || p.lives.next[b] > b));
            }
    }
}
