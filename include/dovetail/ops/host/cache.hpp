// Host loops of caches of keys and values, over pointers; ops/cache.hpp says where the elements are.
#pragma once

#include "attention.hpp"

#include <exception>

namespace dovetail {

// A position that is not in the cache.
class position_error final : public std::exception {
public:
    position_error(std::int64_t sequence, std::int64_t position, std::int64_t length) noexcept {
        __builtin_snprintf(text_, sizeof text_, "cache: sequence %lld is at position %lld, there are %lld",
                           static_cast<long long>(sequence), static_cast<long long>(position), static_cast<long long>(length));
    }
    const char* what() const noexcept override { return text_; }

private:
    char text_[112];
};

}  // namespace dovetail

namespace dovetail::loops {

inline void check_positions(std::int64_t sequences, std::int64_t length, const std::int32_t* positions) {
    for (std::int64_t s = 0; s < sequences; ++s)
        if (positions[s] < 0 || positions[s] >= length) throw position_error{s, positions[s], length};
}

template <class T>
void write_to_cache(std::int64_t sequences, std::int64_t length, std::int64_t columns, const T* rows, const std::int32_t* positions,
                    T* cache) {
    check_positions(sequences, length, positions);
    for (std::int64_t s = 0; s < sequences; ++s)
        for (std::int64_t j = 0; j < columns; ++j) cache[(s * length + positions[s]) * columns + j] = rows[s * columns + j];
}

// `scores` is memory for `length` numbers.
template <class T, class R>
void cached_attention(ops_detail::attention_shape a, const T* q, const T* keys, const T* values, const std::int32_t* positions, R* scores,
                      T* y) {
    check_positions(a.sequences, a.length, positions);
    const R scale = R(1) / ops_detail::square_root(static_cast<R>(a.head_size));
    for (std::int64_t s = 0; s < a.sequences; ++s)
        for (std::int64_t h = 0; h < a.heads; ++h) {
            const std::int64_t count = positions[s] + 1, of_query = s * a.row() + h * a.head_size;
            const std::int64_t of_cache = s * a.length * a.row() + h * a.head_size;
            for (std::int64_t j = 0; j < count; ++j)
                scores[j] = scale * dot_product(a.head_size, q + of_query, keys + of_cache + j * a.row());
            causal_softmax(count, count, scores, scores);
            weighted_sum(count, scores, 1, values + of_cache, a.row(), a.head_size, y + of_query);
        }
}

}  // namespace dovetail::loops
