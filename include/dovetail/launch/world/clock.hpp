// One clock for all ranks of a world, and its error on each rank. Ranks of one process or one host use the host's clock; ranks on several
// hosts exchange times over their channel. GPU clocks are calibrated elsewhere (cuda/progress/step_clock.hpp).
#pragma once

#include "peers.hpp"

#include <unistd.h>
#include <charconv>
#include <cstdlib>
#include <fstream>

namespace dovetail::launch {

// The zero of the world's clock on this process's steady clock, and how far it may be from the zero of rank 0.
struct world_clock {
    std::chrono::steady_clock::time_point origin = {};
    std::chrono::nanoseconds error = {};

    std::int64_t since_origin(std::chrono::steady_clock::time_point t) const {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(t - origin).count();
    }
};

namespace clock_detail {

// Processes with equal texts have the same steady clock.
inline std::string clock_name() {
    std::string boot;
    std::ifstream{"/proc/sys/kernel/random/boot_id"} >> boot;
    char space[64] = {};  // a time namespace (container) may shift the clock
    if (::readlink("/proc/self/ns/time", space, sizeof space - 1) < 0) space[0] = 0;
    return boot + space;
}
// A time received from a rank, limited so that differences of two do not overflow.
inline std::int64_t time_in(std::string_view text) {
    std::int64_t ns = 0;
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), ns);
    if (bad != std::errc{} || end != text.data() + text.size() || ns < 0 || ns > INT64_MAX / 8)
        throw world_error{"a rank sent `" + std::string{text} + "` as the time of its clock"};
    return ns;
}
inline std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Bounds of the offset of one clock from another.
struct clock_bounds {
    std::int64_t least = INT64_MIN, most = INT64_MAX;

    void narrow(std::int64_t low, std::int64_t high) {
        least = std::max(least, low);
        most = std::min(most, high);
    }
    // The bounds may cross if the clocks run at different speeds; the middle and the error are still defined.
    std::int64_t middle() const { return least + (most - least) / 2; }
    std::int64_t error() const { return std::abs(most - least) / 2 + 1; }
};

}  // namespace clock_detail

// All ranks call it at the same place. An exchange returns on a rank only after all ranks have called it, so the times before and after it
// bound the offset of two clocks; the tightest bounds of several rounds are used.
inline world_clock synchronise_clocks(peers& with, int rank, std::chrono::nanoseconds limit) {
    if (with.one_process()) return {with.made, {}};
    constexpr int rounds = 12;
    constexpr const char* what = "the clock of the world";
    const std::string name = clock_detail::clock_name();
    std::string mine = name + " " + std::to_string(clock_detail::now_ns());
    auto texts = with.exchange(rank, what, mine, limit);
    const auto number = [](const std::string& text) { return clock_detail::time_in(std::string_view{text}.substr(text.rfind(' ') + 1)); };
    const std::int64_t zero = number(texts[0]);  // on rank 0's clock
    bool one_host = true;
    for (const std::string& t : texts) one_host = one_host && t.substr(0, t.rfind(' ')) == name;
    clock_detail::clock_bounds ahead{0, 0};  // offset of this clock from rank 0's
    if (!one_host) {
        ahead = {};
        for (int i = 0; i < rounds; ++i) {
            const std::int64_t before = clock_detail::now_ns();
            with.exchange(rank, what, {}, limit);
            const std::int64_t after = clock_detail::now_ns();
            texts = with.exchange(rank, what, std::to_string(before) + " " + std::to_string(after), limit);
            ahead.narrow(before - number(texts[0]),
                         after - clock_detail::time_in(std::string_view{texts[0]}.substr(0, texts[0].find(' '))));
        }
        if (rank == 0) ahead = {0, 0};
    }
    const bool exact = ahead.least == 0 && ahead.most == 0;
    return {std::chrono::steady_clock::time_point{std::chrono::nanoseconds{zero + ahead.middle()}},
            std::chrono::nanoseconds{exact ? 0 : ahead.error()}};
}

}  // namespace dovetail::launch
