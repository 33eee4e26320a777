// Shared by the shipped operations: the arithmetic type of an element, and the predicates that shape rules use. A shape rule rejects its
// arguments by returning tensor_type{}; every predicate here is false for a rejected argument.
#pragma once

#include "../core/view.hpp"
#include "../core/vocabulary.hpp"
#include "../launch/stream.hpp"

namespace dovetail::ops_detail {

// half and bfloat16 are storage types: sums and functions are computed in float.
template <class T> struct arithmetic {
    using type = T;
};
template <> struct arithmetic<half> {
    using type = float;
};
template <> struct arithmetic<bfloat16> {
    using type = float;
};
template <class T>
using arithmetic_t = typename arithmetic<T>::type;

constexpr element arithmetic_of(element e) { return e == element::float64 ? e : element::float32; }

constexpr bool same_extents(const tensor_type& a, const tensor_type& b) { return a == b.with_element(a.type) && b.valid(); }
constexpr bool is_scalar(const tensor_type& t) { return t.valid() && t.rank == 0; }
constexpr bool is_matrix(const tensor_type& t) { return t.rank == 2 && is_floating(t.type); }
constexpr bool are_rows(const tensor_type& x) { return is_matrix(x) && x.extent[1] > 0; }
// Tiles of `results` results each for a product of M x N of them; those at the edges take as long as the others.
constexpr tiles tiles_of(std::int64_t m, std::int64_t n, std::int64_t count, std::int64_t results, int time) {
    if (m <= 0 || n <= 0) return {};
    if (m > (std::int64_t{1} << 40) / n) return {count, time};  // the products below fit in 64 bits
    return {count, static_cast<int>(time * count * results / (m * n))};
}
// The tiles of a product of M x N results: 128 x 256 of them in a thread block, as cuBLAS does on Hopper, or smaller ones where those leave
// multiprocessors idle, 128 x 128 or 64 x 64. Smaller tiles read more of their operands for each operation: a product of 2048 x 3584 x 8192
// in eight blocks of rows takes 1.18 of the whole (354 us instead of 301, pytorch#143160).
constexpr tiles product_tiles(std::int64_t m, std::int64_t n) {
    constexpr std::int64_t enough = 128;
    constexpr int slower = 1180;
    const auto count = [&](std::int64_t rows, std::int64_t columns) { return ((m + rows - 1) / rows) * ((n + columns - 1) / columns); };
    if (count(128, 256) >= enough) return tiles_of(m, n, count(128, 256), 128 * 256, 1000);
    if (count(128, 128) >= enough) return tiles_of(m, n, count(128, 128), 128 * 128, slower);
    return tiles_of(m, n, count(64, 64), 64 * 64, slower);
}
// What layer_norm adds to the variance of a row.
inline constexpr double layer_norm_epsilon = 1e-5;
// Whether `labels` has one label for each row of `x`.
constexpr bool are_labels(const tensor_type& labels, const tensor_type& x) {
    return labels.type == element::int32 && labels.rank == 1 && x.rank == 2 && labels.extent[0] == x.extent[0];
}

}  // namespace dovetail::ops_detail
