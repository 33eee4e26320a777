// Host loops of the embedding and its gradient, over pointers; row-major [rows, columns].
#pragma once

#include "convert.hpp"

#include <exception>

namespace dovetail {

// A token that is not in the vocabulary.
class token_error final : public std::exception {
public:
    token_error(std::int64_t row, std::int64_t token, std::int64_t vocabulary) noexcept {
        __builtin_snprintf(text_, sizeof text_, "embedding: row %lld has token %lld, the table has %lld rows", static_cast<long long>(row),
                           static_cast<long long>(token), static_cast<long long>(vocabulary));
    }
    const char* what() const noexcept override { return text_; }

private:
    char text_[128];
};

}  // namespace dovetail

namespace dovetail::loops {

// y[i] = table[tokens[i]]
template <class T>
void embedding(std::int64_t rows, std::int64_t columns, std::int64_t vocabulary, const std::int32_t* tokens, const T* table, T* y) {
    for (std::int64_t i = 0; i < rows; ++i) {
        if (tokens[i] < 0 || tokens[i] >= vocabulary) throw token_error{i, tokens[i], vocabulary};
        for (std::int64_t j = 0; j < columns; ++j) y[i * columns + j] = table[tokens[i] * columns + j];
    }
}

// The rows of each token as a list in their order: first[v] is the first row whose token is v, next[i] the row after row i with its token,
// and -1 the end. A token out of range is in no list.
inline void list_rows(std::int64_t rows, std::int64_t vocabulary, const std::int32_t* tokens, std::int32_t* first, std::int32_t* next) {
    for (std::int64_t v = 0; v < vocabulary; ++v) first[v] = -1;
    for (std::int64_t i = rows - 1; i >= 0; --i) {
        if (tokens[i] < 0 || tokens[i] >= vocabulary) continue;
        next[i] = first[tokens[i]];
        first[tokens[i]] = static_cast<std::int32_t>(i);
    }
}

// Row v of the gradient is the sum of dy over the rows whose token is v, in their order. `sums` is memory for a row.
template <class T, class R>
void embedding_gradient(std::int64_t columns, std::int64_t vocabulary, const T* dy, const std::int32_t* first, const std::int32_t* next,
                        R* sums, T* gradient) {
    for (std::int64_t v = 0; v < vocabulary; ++v, gradient += columns) {
        for (std::int64_t j = 0; j < columns; ++j) sums[j] = R{};
        for (std::int64_t i = first[v]; i >= 0; i = next[i])
            for (std::int64_t j = 0; j < columns; ++j) sums[j] += widen(dy[i * columns + j]);
        for (std::int64_t j = 0; j < columns; ++j) gradient[j] = static_cast<T>(sums[j]);
    }
}

}  // namespace dovetail::loops
