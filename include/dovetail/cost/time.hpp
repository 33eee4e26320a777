// The time of a task, and the conversion of amounts and rates to picoseconds, within 64 bits.
#pragma once

#include "plan_options.hpp"

namespace dovetail {

// A task when nothing runs beside it: its time in picoseconds, what limits it (of what runs on the compute stream), and what executes it.
struct task_cost {
    std::int64_t time = 0;
    work_class limited_by = work_class::compute_bound;
    hardware by = hardware::multiprocessors;
    // Its time with something on another stream of the rank that this hardware executes, in thousandths of `time`, from a profile; 0: by
    // the class of the computation.
    int slowdown[hardware_count] = {};
};

}  // namespace dovetail

namespace dovetail::cost_model {

// The upper bound of a task's duration, about 19 minutes, so that sums over some thousand tasks fit in 63 bits.
inline constexpr std::int64_t longest_duration = std::int64_t{1} << 50;

constexpr std::int64_t at_most_longest(std::int64_t time) { return time < longest_duration ? time : longest_duration; }
constexpr std::int64_t plus(std::int64_t a, std::int64_t b) { return a < longest_duration - b ? a + b : longest_duration; }
constexpr std::int64_t times_ratio(std::int64_t time, int numerator, int denominator) {
    if (time / denominator >= longest_duration / numerator) return longest_duration;
    return at_most_longest(time / denominator * numerator + time % denominator * numerator / denominator);
}
constexpr std::int64_t scaled(std::int64_t time, int thousandths) { return times_ratio(time, thousandths, 1000); }

// Picoseconds for `amount` (bytes, operations) at `rate` per second, rounded down; 0 where the rate is not known.
constexpr std::int64_t time_at(std::int64_t amount, std::int64_t rate) {
    if (amount <= 0 || rate <= 0) return 0;
    // Three decimal digits at a time: the product amount * 10^12 does not fit in 64 bits.
    while (rate > INT64_MAX / 1000) {
        rate /= 2;
        amount /= 2;
    }
    const std::int64_t whole = amount / rate;
    if (whole > longest_duration / 1'000'000'000'000) return longest_duration;
    if (amount < INT64_MAX / 1'000'000'000'000) {
        return at_most_longest(amount * 1'000'000'000'000 / rate);
    }
    std::int64_t time = whole, rest = amount % rate;
    for (int i = 0; i < 4; ++i) {
        time = time * 1000 + rest * 1000 / rate;
        rest = rest * 1000 % rate;
    }
    return at_most_longest(time);
}

}  // namespace dovetail::cost_model
