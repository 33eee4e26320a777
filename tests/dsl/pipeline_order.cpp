// The orders of pipelines, against the figures of the literature: the bubble and the live activations of each schedule.
#include <dovetail/dsl/pipeline_order.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace {

namespace dsl = dovetail::dsl;
using dsl::pipeline_cell;
using dsl::pipeline_phase;
using dsl::pipeline_schedule;
using dsl::pipeline_shape;
using key = std::tuple<pipeline_phase, int, int>;

std::vector<pipeline_cell> ordered(const pipeline_shape& s) {
    std::vector<pipeline_cell> cells(static_cast<std::size_t>(s.cells()));
    dsl::order_pipeline(s, cells);
    return cells;
}

// What the cell needs to have ended before it.
std::vector<key> needs(const pipeline_shape& s, const pipeline_cell& c) {
    std::vector<key> before;
    if (c.phase == pipeline_phase::forward && c.chunk > 0) before.emplace_back(c.phase, c.chunk - 1, c.micro_batch);
    if (c.phase == pipeline_phase::backward) before.emplace_back(pipeline_phase::forward, c.chunk, c.micro_batch);
    if (c.phase == pipeline_phase::backward && c.chunk + 1 < s.chunks()) before.emplace_back(c.phase, c.chunk + 1, c.micro_batch);
    if (c.phase == pipeline_phase::weight) before.emplace_back(pipeline_phase::backward, c.chunk, c.micro_batch);
    return before;
}

// When a cell starts, when its inputs are ready, and how far it is on the way of a micro-batch: the order of cells.
using moment = std::tuple<int, int, int>;

// Whether each cell stands once on the role of its chunk, behind all that it needs, and starts when role and inputs are there at the
// earliest; a chunk's micro-batches in order; cells that start together by the times of their inputs, then upstream before downstream.
bool right(const pipeline_shape& s) {
    moment last{};
    std::map<key, int> end;
    std::map<int, int> role_free;
    std::map<std::pair<pipeline_phase, int>, int> next;
    for (const pipeline_cell& c : ordered(s)) {
        int start = role_free[c.stage], ready = 0;
        for (const key& k : needs(s, c)) {
            if (!end.count(k)) return false;
            start = std::max(start, end[k]);
            ready = std::max(ready, end[k]);
        }
        const moment now{start, ready, c.phase == pipeline_phase::forward ? c.chunk : 2 * s.chunks() - c.chunk};
        if (now < last) return false;
        last = now;
        if (c.stage != s.stage_of(c.chunk) || c.start != start || next[{c.phase, c.chunk}]++ != c.micro_batch) return false;
        const int duration = c.phase == pipeline_phase::backward && !s.splits_backward() ? 2 : 1;
        if (!end.emplace(key{c.phase, c.chunk, c.micro_batch}, start + duration).second) return false;
        role_free[c.stage] = start + duration;
    }
    return static_cast<int>(end.size()) == s.cells();
}

// The time by which the pipeline is longer than the work of a role, in forwards of a chunk.
int bubble(const pipeline_shape& s) {
    int end = 0;
    for (const pipeline_cell& c : ordered(s)) end = std::max(end, c.start + s.duration(c.phase));
    return end - 3 * s.chunks_per_stage * s.micro_batches;
}

// The most activations of chunks that are live on a stage: from a forward to the last phase of the same chunk and micro-batch.
int activations(const pipeline_shape& s, int stage) {
    const pipeline_phase last = s.splits_backward() ? pipeline_phase::weight : pipeline_phase::backward;
    int live = 0, most = 0;
    for (const pipeline_cell& c : ordered(s)) {
        if (c.stage != stage) continue;
        live += c.phase == pipeline_phase::forward ? 1 : 0;
        most = std::max(most, live);
        live -= c.phase == last ? 1 : 0;
    }
    return most;
}
int activations(const pipeline_shape& s) {
    int most = 0;
    for (int stage = 0; stage < s.stages; ++stage) most = std::max(most, activations(s, stage));
    return most;
}

// All pipelines of 2 to 8 stages and as many to four times as many micro-batches.
template <class Check>
void for_each_size(Check check) {
    for (int p = 2; p <= 8; ++p)
        for (int m = p; m <= 4 * p; ++m) {
            CAPTURE(p);
            CAPTURE(m);
            check(p, m);
        }
}

}  // namespace

TEST_CASE("each cell stands once on its role, behind what it needs") {
    for (int p = 1; p <= 8; ++p)
        for (int m = 1; m <= 4 * p; ++m) {
            CAPTURE(p);
            CAPTURE(m);
            CHECK(right({p, m, pipeline_schedule::gpipe}));
            CHECK(right({p, m, pipeline_schedule::one_f_one_b}));
            CHECK(right({p, m, pipeline_schedule::zero_bubble}));
            CHECK(right({p, m, pipeline_schedule::v_half, 2}));
            for (int v = 1; v <= 3 && m % p == 0; ++v) CHECK(right({p, m, pipeline_schedule::interleaved, v}));
        }
}

TEST_CASE("GPipe has a bubble of p - 1 micro-batches and keeps all activations") {
    for_each_size([](int p, int m) {
        CHECK(bubble({p, m, pipeline_schedule::gpipe}) == 3 * (p - 1));
        CHECK(activations({p, m, pipeline_schedule::gpipe}) == m);
    });
}

TEST_CASE("1F1B has GPipe's bubble and keeps as many activations as there are stages from here on") {
    for_each_size([](int p, int m) {
        CHECK(bubble({p, m, pipeline_schedule::one_f_one_b}) == 3 * (p - 1));
        for (int stage = 0; stage < p; ++stage) CHECK(activations({p, m, pipeline_schedule::one_f_one_b}, stage) == p - stage);
    });
}

TEST_CASE("interleaved 1F1B divides the bubble by the chunks of a role") {
    for_each_size([](int p, int m) {
        if (m % p != 0) return;
        for (int v = 1; v <= 3; ++v) {
            // In forwards of a chunk, which take 1 / v of those of a stage.
            const pipeline_shape s{p, m, pipeline_schedule::interleaved, v};
            CHECK(bubble(s) == 3 * (p - 1));
            CHECK(activations(s) == (v == 1 ? p : std::min(m * v, 2 * (p - 1) + (v - 1) * p + 1)));
        }
    });
}

TEST_CASE("ZB-H1 has a third of 1F1B's bubble and its activations") {
    for_each_size([](int p, int m) {
        CHECK(bubble({p, m, pipeline_schedule::zero_bubble}) == p - 1);
        CHECK(activations({p, m, pipeline_schedule::zero_bubble}) == p);
    });
}

TEST_CASE("V-Half keeps half of 1F1B's activations, and one more, and has half of its bubble") {
    for_each_size([](int p, int m) {
        // In chunks, of which a stage has two: 1F1B keeps 2 p of them and has a bubble of 6 (p - 1).
        const pipeline_shape s{p, m, pipeline_schedule::v_half, 2};
        CHECK(bubble(s) == 3 * (p - 1) - 1);
        CHECK(activations(s) == p + 2);
    });
}
