// The order of a pipeline's cells. A cell is a phase (forward, backward, weight gradient) of one chunk of the model for one micro-batch.
// Takes the shape of a pipeline, gives its cells in the order in which they start if each phase takes the same time on all roles, whole
// backward passes twice that time, and transfers none; those that start together in the order in which their inputs go over the links.
// The order of each role is that of the literature:
//
//   GPipe           Huang et al., GPipe, 2019                           all forwards, then all backwards
//   1F1B            Narayanan et al., PipeDream, 2019 (with a flush)    as few forwards as fill the pipeline, then one of each in turn
//   interleaved     Narayanan et al., Megatron-LM, 2021                 1F1B with v chunks a role, in groups of `stages` micro-batches
//   ZB-H1           Qi et al., Zero Bubble Pipeline Parallelism, 2024   1F1B; weight gradients fill the gaps, role r is r of them behind
//   V-Half          Qi et al., Pipeline Parallelism with Controllable Memory, 2024: two chunks a role, placed in a V
//
// On every role, the cells of a chunk and phase come in the order of their micro-batches.
#pragma once

#include "../core/vec.hpp"

namespace dovetail::dsl {

enum class pipeline_schedule : unsigned char { unknown, gpipe, one_f_one_b, interleaved, zero_bubble, v_half };
enum class pipeline_phase : unsigned char { forward, backward, weight };

struct pipeline_shape {
    int stages = 1;
    int micro_batches = 1;
    pipeline_schedule schedule = pipeline_schedule::unknown;
    int chunks_per_stage = 1;

    constexpr int chunks() const { return stages * chunks_per_stage; }
    constexpr int phases() const { return splits_backward() ? 3 : 2; }
    // Whether the backward pass is two phases: the gradient of the input, which the chunk before waits for, and that of the weights.
    constexpr bool splits_backward() const { return schedule == pipeline_schedule::zero_bubble || schedule == pipeline_schedule::v_half; }
    constexpr int cells_of_role() const { return phases() * chunks_per_stage * micro_batches; }
    constexpr int cells() const { return stages * cells_of_role(); }
    // The stage (number of the role) of a chunk: round robin, or down and up again in a V.
    constexpr int stage_of(int chunk) const {
        if (schedule == pipeline_schedule::v_half) return chunk < stages ? chunk : 2 * stages - 1 - chunk;
        return chunk % stages;
    }
    // In units of one forward.
    constexpr int duration(pipeline_phase phase) const { return phase == pipeline_phase::backward && !splits_backward() ? 2 : 1; }
};

struct pipeline_cell {
    pipeline_phase phase = pipeline_phase::forward;
    int chunk = 0;
    int micro_batch = 0;
    int stage = 0;
    int start = 0;
    int ready = 0;  // when what it needs ends
};

namespace detail {

// The cells of one role in order, for the schedules that alternate between forward and backward after some forwards.
class alternating_order {
public:
    constexpr alternating_order(const pipeline_shape& s, int stage, pipeline_cell* to) : s_{s}, stage_{stage}, to_{to} {}

    constexpr void write() {
        const int n = s_.chunks_per_stage * s_.micro_batches;
        const int ahead = warm_up() < n ? warm_up() : n;
        for (int k = 0; k < ahead; ++k) put(pipeline_phase::forward, k);
        for (int k = 0; k < n; ++k) {
            if (ahead + k < n) put(pipeline_phase::forward, ahead + k);
            put(pipeline_phase::backward, k);
            if (s_.splits_backward() && k >= stage_) put(pipeline_phase::weight, k - stage_);
        }
        if (s_.splits_backward())
            for (int k = n > stage_ ? n - stage_ : 0; k < n; ++k) put(pipeline_phase::weight, k);
    }

private:
    // The number of forwards before the first pair of forward and backward.
    constexpr int warm_up() const {
        const int behind = s_.stages - 1 - stage_;
        switch (s_.schedule) {
            case pipeline_schedule::gpipe: return s_.micro_batches;
            case pipeline_schedule::interleaved:
                return s_.chunks_per_stage == 1 ? behind : 2 * behind + (s_.chunks_per_stage - 1) * s_.stages;
            default: return behind;
        }
    }
    // The k-th cell of a phase: `stages` micro-batches of the role's first chunk, as many of the second, ..., then the next micro-batches;
    // backwards the last chunk is first.
    constexpr void put(pipeline_phase phase, int k) {
        const int turn = k / s_.stages % s_.chunks_per_stage;
        const int slice = phase == pipeline_phase::forward ? turn : s_.chunks_per_stage - 1 - turn;
        const int micro_batch = k / (s_.stages * s_.chunks_per_stage) * s_.stages + k % s_.stages;
        *to_++ = {phase, slice * s_.stages + stage_, micro_batch, stage_};
    }

    const pipeline_shape& s_;
    int stage_;
    pipeline_cell* to_;
};

// The cells of one role of V-Half: a building block of six cells, repeated every six units. Forwards go down the V one unit a role and up
// two units a role, as do backwards: so an activation of the second chunk lives the shorter, the farther up its role is, and one of the
// first chunk the longer, together three units a role. Where two cells fall on one unit, the first in the block goes first.
constexpr void write_v_half(const pipeline_shape& s, int stage, pipeline_cell* to) {
    constexpr int period = 6, turn = 5;  // turn: from the last forward down to the first forward up, which leaves time for transfers
    const int depth = s.stages - 1, up = 2 * (depth - stage);
    const int forward_up = depth + turn - 1 + up, backward_down = 3 * depth + turn + stage, backward_up = 4 * depth + turn + 1 + up;
    const int first = stage, second = 2 * s.stages - 1 - stage;
    using phase = pipeline_phase;
    const pipeline_cell block[period] = {{phase::forward, first, 0, stage, stage},
                                         {phase::forward, second, 0, stage, forward_up},
                                         {phase::backward, second, 0, stage, backward_down},
                                         {phase::backward, first, 0, stage, backward_up},
                                         {phase::weight, second, 0, stage, backward_down + 2},
                                         {phase::weight, first, 0, stage, backward_up + 3}};
    const pipeline_cell* const end = to + s.cells_of_role();
    for (int time = 0; to != end; ++time)
        for (const pipeline_cell& c : block) {
            const int since = time - c.start;
            if (since < 0 || since % period != 0 || since / period >= s.micro_batches) continue;
            *to = c;
            to++->micro_batch = since / period;
        }
}

// Runs the roles' lists as early as possible, which sets the cells' starts.
class pipeline_simulation {
public:
    constexpr pipeline_simulation(const pipeline_shape& s, vec<pipeline_cell>& cells)
        : s_{s}, cells_{cells}, end_(3 * s.chunks() * s.micro_batches, -1), next_(s.stages), free_(s.stages) {}

    // The number of cells that ran: all, unless the lists wait for each other.
    constexpr int run() {
        int ran = 0;
        for (int before = -1; before != ran;) {
            before = ran;
            for (int stage = 0; stage < s_.stages; ++stage)
                while (next_[stage] < s_.cells_of_role() && start(cells_[stage * s_.cells_of_role() + next_[stage]])) ++ran;
        }
        return ran;
    }

private:
    constexpr int& end_of(pipeline_phase phase, int chunk, int micro_batch) {
        return end_[(static_cast<int>(phase) * s_.chunks() + chunk) * s_.micro_batches + micro_batch];
    }
    // When the cell that this one depends on ends; -1: it has not run.
    constexpr int ready(const pipeline_cell& c) {
        switch (c.phase) {
            case pipeline_phase::forward: return c.chunk == 0 ? 0 : end_of(c.phase, c.chunk - 1, c.micro_batch);
            case pipeline_phase::backward:
                return c.chunk == s_.chunks() - 1 ? end_of(pipeline_phase::forward, c.chunk, c.micro_batch)
                                                  : end_of(c.phase, c.chunk + 1, c.micro_batch);
            default: return end_of(pipeline_phase::backward, c.chunk, c.micro_batch);
        }
    }
    constexpr bool start(pipeline_cell& c) {
        const int ready_at = ready(c);
        if (ready_at < 0) return false;
        c.ready = ready_at;
        c.start = ready_at > free_[c.stage] ? ready_at : free_[c.stage];
        free_[c.stage] = end_of(c.phase, c.chunk, c.micro_batch) = c.start + s_.duration(c.phase);
        ++next_[c.stage];
        return true;
    }

    const pipeline_shape& s_;
    vec<pipeline_cell>& cells_;
    vec<int> end_;   // by phase, chunk and micro-batch; -1: has not run
    vec<int> next_;  // by stage: its first cell that has not run
    vec<int> free_;  // by stage: the end of its last cell
};

// Whether a's input goes over the links before that of b, which starts at the same time: what is ready first; then what is earlier on the
// way of a micro-batch, so that a stage receives before it sends.
constexpr bool arrives_before(const pipeline_shape& s, const pipeline_cell& a, const pipeline_cell& b) {
    const auto on_the_way = [&](const pipeline_cell& c) { return c.phase == pipeline_phase::forward ? c.chunk : 2 * s.chunks() - c.chunk; };
    return a.ready != b.ready ? a.ready < b.ready : on_the_way(a) < on_the_way(b);
}

// Counting sort by start, with an insertion sort of those that start together, at most one on each stage.
template <class Cells>
constexpr void sort_by_start(const pipeline_shape& s, const vec<pipeline_cell>& from, Cells& to) {
    int last = 0;
    for (const pipeline_cell& c : from)
        if (c.start > last) last = c.start;
    vec<int> first(last + 2);
    for (const pipeline_cell& c : from) ++first[c.start + 1];
    for (int t = 0; t < last; ++t) first[t + 1] += first[t];
    for (const pipeline_cell& c : from) {
        int at = first[c.start]++;
        for (; at > 0 && to[at - 1].start == c.start && arrives_before(s, c, to[at - 1]); --at) to[at] = to[at - 1];
        to[at] = c;
    }
}

}  // namespace detail

// Writes the cells to an array of shape.cells() elements.
template <class Cells>
constexpr void order_pipeline(const pipeline_shape& shape, Cells& to) {
    vec<pipeline_cell> cells(shape.cells());
    for (int stage = 0; stage < shape.stages; ++stage) {
        pipeline_cell* const role = cells.begin() + stage * shape.cells_of_role();
        if (shape.schedule == pipeline_schedule::v_half)
            detail::write_v_half(shape, stage, role);
        else
            detail::alternating_order(shape, stage, role).write();
    }
    detail::pipeline_simulation(shape, cells).run();
    detail::sort_by_start(shape, cells, to);
}

}  // namespace dovetail::dsl
