// Host loops of softmax cross entropy, argmax and correct_count, over pointers; row-major [rows, classes].
#pragma once

#include "softmax.hpp"

#include <exception>

namespace dovetail {

// A label that is not a class. This file avoids <string>, which would cost more compile time than a small graph.
class label_error final : public std::exception {
public:
    label_error(std::int64_t row, std::int64_t label, std::int64_t classes) noexcept {
        __builtin_snprintf(text_, sizeof text_, "softmax_cross_entropy: row %lld has label %lld, there are %lld classes",
                           static_cast<long long>(row), static_cast<long long>(label), static_cast<long long>(classes));
    }
    const char* what() const noexcept override { return text_; }

private:
    char text_[128];
};

}  // namespace dovetail

namespace dovetail::loops {

// Probabilities of each row. Returns the mean loss.
template <class T>
auto softmax_cross_entropy(std::int64_t rows, std::int64_t classes, const T* logits, const std::int32_t* labels, T* probabilities) {
    using R = ops_detail::arithmetic_t<T>;
    R total{};
    for (std::int64_t i = 0; i < rows; ++i, logits += classes, probabilities += classes) {
        if (labels[i] < 0 || labels[i] >= classes) throw label_error{i, labels[i], classes};
        const auto shift = softmax_shift_of(classes, logits);
        // The maximum is subtracted from the logit and not added to the logarithm, whose low bits would be lost for large logits.
        total += shift.log_sum - (widen(logits[labels[i]]) - shift.largest);
        softmax_of_row(classes, logits, shift, probabilities);
    }
    return rows > 0 ? total / static_cast<R>(rows) : total;
}

// (probabilities - one at the label) / rows; y may be the memory of the probabilities.
template <class T>
void softmax_cross_entropy_gradient(std::int64_t rows, std::int64_t classes, const T* probabilities, const std::int32_t* labels, T* y) {
    using R = ops_detail::arithmetic_t<T>;
    const R share = rows > 0 ? R(1) / static_cast<R>(rows) : R{};
    for (std::int64_t i = 0; i < rows; ++i, probabilities += classes, y += classes)
        for (std::int64_t j = 0; j < classes; ++j) y[j] = static_cast<T>((widen(probabilities[j]) - (j == labels[i] ? R(1) : R{})) * share);
}

// Index of the largest of `count` elements; of equal ones, the first.
template <class T>
std::int32_t place_of_largest(std::int64_t count, const T* x) {
    std::int64_t best = 0;
    for (std::int64_t j = 1; j < count; ++j)
        if (widen(x[j]) > widen(x[best])) best = j;
    return static_cast<std::int32_t>(best);
}

}  // namespace dovetail::loops
