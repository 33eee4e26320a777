// The sizes of an attention: rows of `heads` heads of `head_size` elements, `length` consecutive rows for each of `sequences` sequences.
#pragma once

#include "facts.hpp"

namespace dovetail::ops_detail {

struct attention_shape {
    std::int64_t sequences = 0;
    std::int64_t length = 0;
    std::int64_t heads = 0;
    std::int64_t head_size = 0;

    DOVETAIL_HOST_DEVICE constexpr std::int64_t rows() const { return sequences * length; }
    DOVETAIL_HOST_DEVICE constexpr std::int64_t row() const { return heads * head_size; }
    constexpr std::int64_t probability_row() const { return heads * length; }
    constexpr std::int64_t probabilities() const { return rows() * probability_row(); }

    // Calls f for each head of each sequence with the index of its first element, and of its first probability.
    template <class F>
    constexpr void for_each_head(F f) const {
        for (std::int64_t s = 0; s < sequences; ++s)
            for (std::int64_t h = 0; h < heads; ++h) f(s * length * row() + h * head_size, (s * length * heads + h) * length);
    }
};

// Of queries [B,C]; all zeros where they do not consist of whole sequences and heads.
constexpr attention_shape attention_shape_of(const tensor_type& q, std::int64_t length, std::int64_t head_size) {
    if (!is_matrix(q) || q.extent[0] % length != 0 || q.extent[1] == 0 || q.extent[1] % head_size != 0) return {};
    return {q.extent[0] / length, length, q.extent[1] / head_size, head_size};
}

// What a GPU needs for the scores of so many probabilities, in float or double: nothing where they fit in the place of the probabilities.
constexpr std::int64_t scores_bytes(element of, std::int64_t probabilities) {
    return arithmetic_of(of) == of ? 0 : probabilities * tensor_type{arithmetic_of(of), 0, {}}.bytes();
}
// ... for gradients of probabilities, and those of scores, which take their place where they have the same type.
constexpr std::int64_t gradients_bytes(element of, std::int64_t probabilities) {
    const std::int64_t wide = tensor_type{arithmetic_of(of), 0, {}}.bytes(), narrow = tensor_type{of, 0, {}}.bytes();
    return probabilities * (arithmetic_of(of) == of ? wide : wide + narrow);
}

}  // namespace dovetail::ops_detail
