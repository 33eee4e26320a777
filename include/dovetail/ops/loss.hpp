// Classification: rows of `logits` [B,C] against `labels` [B] int32 in [0,C).
//
//     softmax_cross_entropy(logits, labels)            -> mean loss (scalar), probabilities [B,C]
//     softmax_cross_entropy_gradient(probabilities, labels) -> gradient of the mean loss by the logits [B,C]
//     argmax(logits)                                   -> [B] int32, the first of equals
//     correct_count(logits, labels)                    -> int32 scalar, rows whose argmax is their label
//
// For a label out of range, softmax_cross_entropy on the host throws label_error. On a GPU, where a kernel cannot throw, the loss is NaN
// and the probabilities are correct. The gradient subtracts nothing in that row, and correct_count does not count it.
#pragma once

#include "cuda/loss.hpp"
#include "host/loss.hpp"

namespace dovetail::ops {

struct softmax_cross_entropy {
    static constexpr results result(tensor_type logits, tensor_type labels) {
        if (!ops_detail::is_matrix(logits) || logits.extent[1] == 0 || !ops_detail::are_labels(labels, logits)) return tensor_type{};
        return {tensor_type{ops_detail::arithmetic_of(logits.type), 0, {}}, logits};
    }
    static constexpr dovetail::cost cost(tensor_type logits, tensor_type labels) {
        return {8 * logits.size(), 2 * logits.bytes() + labels.bytes(), ops_detail::arithmetic_of(logits.type)};
    }
    // One loss per row; they are added up in a fixed order.
    static constexpr std::int64_t workspace(tensor_type logits, tensor_type labels) {
        return labels.with_element(ops_detail::arithmetic_of(logits.type)).bytes();
    }

    template <class X, class Y, class L>
    static void launch(host::stream, in<X> logits, in<Y> labels, out<L> loss, out<X> probabilities) {
        *loss.data() =
            loops::softmax_cross_entropy(X::template extent<0>, X::template extent<1>, logits.data(), labels.data(), probabilities.data());
    }
    template <class X, class Y, class L>
    static void launch(cuda::stream s, in<X> logits, in<Y> labels, out<L> loss, out<X> probabilities) {
        kernels::softmax_cross_entropy(s, X::template extent<0>, X::template extent<1>, logits.data(), labels.data(), probabilities.data(),
                                       loss.data(), static_cast<typename L::element_type*>(s.workspace));
    }
};

struct softmax_cross_entropy_gradient {
    static constexpr tensor_type result(tensor_type probabilities, tensor_type labels) {
        return ops_detail::is_matrix(probabilities) && ops_detail::are_labels(labels, probabilities) ? probabilities : tensor_type{};
    }
    static constexpr dovetail::cost cost(tensor_type probabilities, tensor_type labels) {
        return {2 * probabilities.size(), 2 * probabilities.bytes() + labels.bytes(), ops_detail::arithmetic_of(probabilities.type)};
    }
    static constexpr int in_place = 0;

    template <class X, class Y>
    static void launch(host::stream, in<X> probabilities, in<Y> labels, out<X> gradient) {
        loops::softmax_cross_entropy_gradient(X::template extent<0>, X::template extent<1>, probabilities.data(), labels.data(),
                                              gradient.data());
    }
    template <class X, class Y>
    static void launch(cuda::stream s, in<X> probabilities, in<Y> labels, out<X> gradient) {
        kernels::softmax_cross_entropy_gradient(s, X::template extent<0>, X::template extent<1>, probabilities.data(), labels.data(),
                                                gradient.data());
    }
};

struct argmax {
    static constexpr tensor_type result(tensor_type x) {
        if (x.rank != 2 || x.extent[1] == 0) return {};
        return x.with_extents(x.extent[0]).with_element(element::int32);
    }
    static constexpr dovetail::cost cost(tensor_type x) { return bytes_moved(x.bytes() + result(x).bytes()); }
    static constexpr auto row_wise = by_rows(0);

    template <class X, class Y>
    static void launch(host::stream, in<X> x, out<Y> y) {
        constexpr std::int64_t classes = X::template extent<1>;
        for (std::int64_t i = 0; i < Y::size; ++i) y[i] = loops::place_of_largest(classes, x.data() + i * classes);
    }
    template <class X, class Y>
    static void launch(cuda::stream s, in<X> x, out<Y> y) {
        kernels::places_of_largest(s, X::template extent<0>, X::template extent<1>, x.data(), y.data());
    }
};

struct correct_count {
    static constexpr tensor_type result(tensor_type logits, tensor_type labels) {
        const bool fits = logits.rank == 2 && logits.extent[1] > 0 && ops_detail::are_labels(labels, logits);
        return fits ? tensor_type{element::int32, 0, {}} : tensor_type{};
    }
    static constexpr dovetail::cost cost(tensor_type logits, tensor_type labels) { return bytes_moved(logits.bytes() + labels.bytes()); }

    template <class X, class Y, class C>
    static void launch(host::stream, in<X> logits, in<Y> labels, out<C> count) {
        constexpr std::int64_t classes = X::template extent<1>;
        std::int32_t correct = 0;
        for (std::int64_t i = 0; i < Y::size; ++i)
            correct += loops::place_of_largest(classes, logits.data() + i * classes) == labels[i] ? 1 : 0;
        *count.data() = correct;
    }
    template <class X, class Y, class C>
    static void launch(cuda::stream s, in<X> logits, in<Y> labels, out<C> count) {
        kernels::count_correct(s, X::template extent<0>, X::template extent<1>, logits.data(), labels.data(), count.data());
    }
};

}  // namespace dovetail::ops
