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
// Whether `labels` has one label for each row of `x`.
constexpr bool are_labels(const tensor_type& labels, const tensor_type& x) {
    return labels.type == element::int32 && labels.rank == 1 && x.rank == 2 && labels.extent[0] == x.extent[0];
}

}  // namespace dovetail::ops_detail
