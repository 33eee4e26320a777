// Time limits and deadlines. A limit may be the largest duration, which must not overflow when it is added to a clock or counted in
// nanoseconds.
#pragma once

#include "../error.hpp"

#include <chrono>
#include <string>

namespace dovetail {

using deadline = std::chrono::steady_clock::time_point;

namespace launch {

inline deadline after(std::chrono::nanoseconds limit) {
    const auto now = std::chrono::steady_clock::now();
    return limit > deadline::max() - now ? deadline::max() : now + limit;
}
// Converts any duration. Throws for NaN.
template <class Rep, class Period>
std::chrono::nanoseconds nanoseconds_of(std::chrono::duration<Rep, Period> limit) {
    using std::chrono::nanoseconds;
    const std::chrono::duration<double> seconds{limit}, most{nanoseconds::max()};
    if (seconds.count() != seconds.count()) throw usage_error{"a time limit is not a number (NaN)"};
    return seconds >= most ? nanoseconds::max() : seconds <= -most ? nanoseconds::min() : std::chrono::duration_cast<nanoseconds>(limit);
}
// "0.25 s"
inline std::string in_seconds(std::chrono::nanoseconds span) {
    const auto text = std::to_string(std::chrono::duration<double>(span).count());
    return text.substr(0, text.find('.') + 3) + " s";
}

}  // namespace launch

}  // namespace dovetail
