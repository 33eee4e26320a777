// A reduction of elements on the host, deterministic: half and bfloat16 are summed in float and rounded once, integers wrap around, an
// average is the sum divided by the number of members, minimum and maximum are those of core/extremes.hpp.
#pragma once

#include "../../core/extremes.hpp"
#include "../../core/vocabulary.hpp"

#include <type_traits>
#include <vector>

namespace dovetail::host::detail {

// The type in which a reduction is computed: wide enough for a single rounding, unsigned so that integers wrap.
template <class T>
using accumulator = std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float,
                                       std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>>;

template <class T>
accumulator<T> widened(const T& x) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
    else
        return static_cast<accumulator<T>>(x);
}

template <class T>
T divided(accumulator<T> sum, int n) {
    if constexpr (std::is_unsigned_v<T>)
        return static_cast<T>(sum / static_cast<std::uint64_t>(n));
    else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::int64_t>(sum) / n);
    else
        return static_cast<T>(sum / static_cast<accumulator<T>>(n));
}

// to[i] = reduction over members of from[m][i], `count` elements; `to` may be a source, and overlaps no source otherwise.
template <class T>
void reduce(reduction how, const std::vector<const void*>& from, void* to, std::int64_t count) {
    T* out = static_cast<T*>(to);
    const int n = static_cast<int>(from.size());
    for (std::int64_t i = 0; i < count; ++i) {
        const auto value = [&](int m) -> const T& { return static_cast<const T*>(from[static_cast<std::size_t>(m)])[i]; };
        if (how == reduction::minimum || how == reduction::maximum) {
            T best = value(0);
            for (int m = 1; m < n; ++m) best = how == reduction::minimum ? minimum_of(best, value(m)) : maximum_of(best, value(m));
            out[i] = best;
            continue;
        }
        accumulator<T> sum = widened(value(0));
        for (int m = 1; m < n; ++m) {
            if (how == reduction::product)
                sum = sum * widened(value(m));
            else
                sum = sum + widened(value(m));
        }
        out[i] = how == reduction::average ? divided<T>(sum, n) : static_cast<T>(sum);
    }
}

inline void reduce(element type, reduction how, const std::vector<const void*>& from, void* to, std::int64_t bytes) {
    const std::int64_t count = bytes / bytes_of(type);
    switch (type) {
        case element::float16: return reduce<half>(how, from, to, count);
        case element::bfloat16: return reduce<bfloat16>(how, from, to, count);
        case element::float32: return reduce<float>(how, from, to, count);
        case element::float64: return reduce<double>(how, from, to, count);
        case element::int8: return reduce<std::int8_t>(how, from, to, count);
        case element::uint8: return reduce<std::uint8_t>(how, from, to, count);
        case element::int32: return reduce<std::int32_t>(how, from, to, count);
        case element::uint32: return reduce<std::uint32_t>(how, from, to, count);
        case element::int64: return reduce<std::int64_t>(how, from, to, count);
        case element::uint64: return reduce<std::uint64_t>(how, from, to, count);
        case element::none: return;
    }
}

}  // namespace dovetail::host::detail
