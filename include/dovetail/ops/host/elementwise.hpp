// Host loops of the element-wise operations and of column sums, over pointers.
#pragma once

#include "convert.hpp"

namespace dovetail::loops {

// A source of operands: element i of a tensor, or the same scalar for every i.
template <class T, bool Spread>
struct operand {
    const T* pointer;
    auto operator[](std::int64_t i) const { return widen(pointer[Spread ? 0 : i]); }
};

// y[i] = f(x[i], rest[i]...); y may be the memory of x.
template <class F, class T, class... X>
void transform(std::int64_t n, T* y, X... x) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(F{}(x[i]...));
}

template <class T>
void copy(std::int64_t n, const T* x, T* y) {
    if (n > 0 && x != y) __builtin_memcpy(y, x, static_cast<std::uint64_t>(n) * sizeof(T));
}

template <class T>
void fill(std::int64_t n, T value, T* y) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = value;
}

// y[i][j] = x[i][j] + b[j]; y may be the memory of x.
template <class T>
void add_to_rows(std::int64_t rows, std::int64_t columns, const T* x, const T* b, T* y) {
    for (std::int64_t i = 0; i < rows; ++i, x += columns, y += columns)
        for (std::int64_t j = 0; j < columns; ++j) y[j] = static_cast<T>(widen(x[j]) + widen(b[j]));
}

// y[j] = sum of x[i][j] over i, by strips of columns whose sums stay in the first-level cache.
template <class T>
void sum_of_rows(std::int64_t rows, std::int64_t columns, const T* x, T* y) {
    constexpr int strip = 64;
    using R = ops_detail::arithmetic_t<T>;
    for (std::int64_t first = 0; first < columns; first += strip) {
        const int count = static_cast<int>(columns - first < strip ? columns - first : strip);
        R sum[strip] = {};
        for (std::int64_t i = 0; i < rows; ++i)
            for (int j = 0; j < count; ++j) sum[j] += widen(x[i * columns + first + j]);
        for (int j = 0; j < count; ++j) y[first + j] = static_cast<T>(sum[j]);
    }
}

}  // namespace dovetail::loops
