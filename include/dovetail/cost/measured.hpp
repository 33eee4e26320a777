// The cost of a task by a profile, in place of the estimate of the machine's model.
#pragma once

#include "time.hpp"

namespace dovetail::cost_model {

// A larger slow-down, of an operation that was disturbed when it was measured, would not fit into the simulation's integers.
inline constexpr std::int64_t largest_slowdown = 8000;

namespace detail {

// The ratio of a time to an estimate, in thousandths.
constexpr int thousandths_of(std::int64_t time, std::int64_t estimate) {
    const std::int64_t ratio = time * 1000 / estimate;
    return ratio < 1 ? 1 : ratio > INT32_MAX ? INT32_MAX : static_cast<int>(ratio);
}

// Of work that takes `alone` alone and `beside` with something beside it; 0: `beside` was not measured. Nothing is faster with something
// beside it.
constexpr int slowdown_of(std::int64_t beside, std::int64_t alone) {
    if (beside == 0) return 0;
    beside = at_most_longest(beside);
    if (beside <= alone) return 1000;
    const std::int64_t slowdown = beside * 1000 / alone;
    return static_cast<int>(slowdown < largest_slowdown ? slowdown : largest_slowdown);
}

}  // namespace detail

// Work as a profile knows it.
struct profiled_work_id {
    std::uint64_t key = 0;
    stream_kind stream = stream_kind::compute;
    hardware by = hardware::multiprocessors;
};

// Whether a profile says how two kinds of hardware slow each other. Beside a long product a kernel of NCCL was recorded for as long as the
// product and its own time. That says neither how fast NCCL goes beside the product, nor, where the two overlap, what the product loses to
// it. The machine's figures do: they are of work that runs for long.
constexpr bool has_slowdown(hardware a, hardware b) { return a != hardware::nccl && b != hardware::nccl; }

// Work that the profile has takes the time of its row. Work that it has in other sizes, a block of a split for example, differs from its
// estimate as the row of the nearest size does, also beside others. Of other work the estimate is multiplied by how much the work of its
// stream that the profile has differs from its estimates. So a plan does not win for operations that nobody has measured. What never ran
// alone is taken to be as slow alone as at its fastest.
constexpr task_cost measured(const profile_table& profile, const profiled_work_id& work, task_cost estimate) {
    const profile_row* row = profile.find(work.key);
    const bool exact = row != nullptr;
    if (!exact) row = profile.find_like(work.key, estimate.time);
    if (row == nullptr) {
        estimate.time = scaled(estimate.time, profile.scale[static_cast<int>(work.stream)]);
        return estimate;
    }
    const std::int64_t alone = at_most_longest(row->alone_or_shortest());
    estimate.time = exact ? alone : scaled(estimate.time, detail::thousandths_of(alone, row->estimate));
    for (int by = 0; by < hardware_count; ++by)  // without a time alone, the time is one with the slow-down
        if (has_slowdown(work.by, static_cast<hardware>(by)) || row->alone == 0)
            estimate.slowdown[by] = detail::slowdown_of(row->beside[by], alone);
    return estimate;
}

}  // namespace dovetail::cost_model
