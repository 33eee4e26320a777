// The issue order: the steps of each role, and the streams that they use.
#include "support/random_program.hpp"

#include <dovetail/pass/sync/issue_order.hpp>

#include <doctest/doctest.h>

using namespace support;

namespace {

constexpr int two_roles() {
    dv::ir::program_data d;
    d.roles = 2;
    // A task of role 0, one of both roles of which role 1 plays two parts, one of role 1.
    const int roles[][3] = {{0, -1, -1}, {0, 1, 1}, {1, -1, -1}};
    for (const auto& list : roles) {
        dv::ir::task v;
        v.first_participation = d.participations.size();
        for (int r : list)
            if (r >= 0) {
                dv::ir::participation p;
                p.role = r;
                d.participations.push(p);
                ++v.participations;
            }
        d.tasks.push(v);
    }
    const int order[] = {2, 0, 1};
    const unsigned char stream[] = {0, 1, 0};
    const auto issued = dv::pass::issue_order(dv::ir::view(d), {order, 3}, {stream, 3});
    const auto& s = issued.steps;
    if (s.size() != 4 || issued.roles[0].steps != 2 || issued.roles[1].first_step != 2 || issued.roles[1].steps != 2) return 1;
    if (s[0].task != 0 || s[1].task != 1 || s[2].task != 2 || s[3].task != 1) return 2;
    if (s[3].participations != 2 || s[3].first_participation != 2 || s[3].stream != 1) return 3;
    if (issued.index_on_stream[3] != 0 || issued.on_stream[dv::stream_count + 1] != 1 || issued.stream_steps[2 * dv::stream_count + 2] != 3)
        return 4;
    return 0;
}
static_assert(two_roles() == 0);

}  // namespace

TEST_CASE("a role's steps are the restriction of the order, its streams those of its steps") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        program_knobs k;
        k.roles = 1 + static_cast<int>(seed % 4);
        const auto data = random_program(seed, k);
        const auto program = dv::ir::view(data);
        const auto order = random_order(seed, data.tasks.size(), all_conflicts(program), 4);
        dv::vec<unsigned char> stream;
        for (const auto& v : data.tasks) stream.push(static_cast<unsigned char>(v.stream));
        const auto issued = dv::pass::issue_order(program, order.view(), stream.view());
        int next = 0;
        for (int r = 0; r < k.roles; ++r) {
            CHECK(issued.roles[r].first_step == next);
            int on_stream[dv::stream_count] = {};
            for (int at = 0; at < order.size(); ++at) {
                const auto& v = program.tasks[order[at]];
                int first = -1, participations = 0;
                for (int p = v.first_participation; p < v.first_participation + v.participations; ++p)
                    if (program.participations[p].role == r) {
                        if (first < 0) first = p;
                        ++participations;
                    }
                if (participations == 0) continue;
                const auto& s = issued.steps[next];
                CHECK(s.task == order[at]);
                CHECK(s.first_participation == first);
                CHECK(s.participations == participations);
                CHECK(s.stream == stream[order[at]]);
                if (k.roles > 1) CHECK(issued.position[next] == at);
                CHECK(issued.index_on_stream[next] == on_stream[s.stream]);
                const auto& role = issued.roles[r];
                CHECK(issued.stream_steps[dv::stream_count * role.first_step + s.stream * role.steps + on_stream[s.stream]++] == next);
                ++next;
            }
            CHECK(issued.roles[r].first_step + issued.roles[r].steps == next);
            for (int l = 0; l < dv::stream_count; ++l) CHECK(issued.on_stream[r * dv::stream_count + l] == on_stream[l]);
        }
        CHECK(issued.steps.size() == next);
    }
}
