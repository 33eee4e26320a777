// Kernels of programs whose graphs are in .cpp files. One .cu file of the program instantiates them for its elements:
//
//     #include <dovetail/ops/cuda/instances.hpp>
//     template struct dovetail::kernels_for<float, std::int32_t>;
//
// The same file may include <dovetail/launch/cuda/commands/local_reduction.hpp>, which reductions by copy engines need, and
// <dovetail/launch/cuda/progress/progress_word.hpp>, with which replayed runs of small messages are faster.
//
// This instantiates every shipped operation on these elements, including operations that mix them, but for fused attention, and AdamW with
// moments of another type than that in which the weights are computed. User-defined function objects in map<F> and zip_with<F> are
// instantiated in the same .cu file by
//
//     template void dovetail::kernels::transform<F>(dovetail::cuda::stream, std::int64_t, float*,
//                                                    dovetail::kernels::operand<float, false>);
//
// with an operand for each argument, `true` for a scalar beside a tensor. A missing kernel is reported by the linker as an undefined
// reference to a function of dovetail::kernels with its elements in the name.
#pragma once

#include "../ops.hpp"

namespace dovetail {

template <class... T>
struct kernels_for {
    // Naming a function instantiates it; [[gnu::used]] keeps the instantiation.
    [[gnu::used]] static void all() { (of<T>(), ...); }

private:
    template <class... F>
    static void keep(F*...) {}

    template <class V>
    static void of() {
        using R = ops_detail::arithmetic_t<V>;
        using all_of = kernels::operand<V, false>;
        using one = kernels::operand<V, true>;
        keep(&kernels::transform<ops_detail::positive_part, V, all_of>, &kernels::transform<ops_detail::where_positive, V, all_of, all_of>);
        keep(&kernels::transform<ops_detail::plus, V, all_of, all_of>, &kernels::transform<ops_detail::minus, V, all_of, all_of>,
             &kernels::transform<ops_detail::times, V, all_of, all_of>);
        keep(&kernels::transform<ops_detail::plus, V, all_of, one>, &kernels::transform<ops_detail::minus, V, all_of, one>,
             &kernels::transform<ops_detail::times, V, all_of, one>);
        keep(&kernels::generate<V, ops_detail::same_everywhere<R>>, &kernels::copy<V>, &kernels::transpose<V>, &kernels::add_to_rows<V>,
             &kernels::places_of_largest<V>, &kernels::count_correct<V>);
        if constexpr (is_floating(element_of<V>)) {
            keep(&kernels::generate<V, ops_detail::normally_distributed>, &kernels::generate<V, ops_detail::uniformly_distributed>);
            keep(&kernels::gemm<false, false, V>, &kernels::gemm<false, true, V>, &kernels::gemm<true, false, V>,
                 &kernels::gemm<true, true, V>, &kernels::sum_of_rows<V>);
            keep(&kernels::add_gemm<false, false, V, V>, &kernels::add_gemm<false, true, V, V>, &kernels::add_gemm<true, false, V, V>,
                 &kernels::add_gemm<true, true, V, V>);
            if constexpr (!std::is_same_v<V, R>)
                keep(&kernels::add_gemm<false, false, V, R>, &kernels::add_gemm<false, true, V, R>, &kernels::add_gemm<true, false, V, R>,
                     &kernels::add_gemm<true, true, V, R>);
            keep(&kernels::softmax_cross_entropy<V, R>, &kernels::softmax_cross_entropy_gradient<V>);
            of_transformer<V, R>();
        }
        (pair<V, T>(), ...);
    }
    template <class V, class R>
    static void of_transformer() {
        using all_of = kernels::operand<V, false>;
        keep(&kernels::softmax<V>, &kernels::softmax_gradient<V>, &kernels::layer_norm<V>, &kernels::layer_norm_gradient<V>,
             &kernels::layer_norm_parameter_gradients<V, R>);
        keep(&kernels::transform<ops_detail::gaussian_unit, V, all_of>,
             &kernels::transform<ops_detail::gaussian_unit_gradient, V, all_of, all_of>,
             &kernels::transform<ops_detail::limit_over_norm, V, all_of, all_of>);
        keep(&kernels::embedding<V>, &kernels::embedding_gradient<V>, &kernels::causal_attention<V>, &kernels::causal_attention_gradient<V>,
             &kernels::write_to_cache<V>, &kernels::cached_attention<V, R>, &kernels::sums_of_squares<V, R>, &kernels::add_up<R>);
        // The moments of AdamW have the arithmetic type of the weights, the gradients any element.
        (adam_w<V, R, T>(), ...);
    }
    template <class W, class R, class G>
    static void adam_w() {
        if constexpr (is_floating(element_of<G>)) keep(&kernels::adam_w<W, R, R, G>);
    }
    template <class V, class W>
    static void pair() {
        keep(&kernels::transform<ops_detail::converted<V>, V, kernels::operand<W, false>>,
             &kernels::transform<ops_detail::converted<V>, V, kernels::operand<W, true>>);
        if constexpr (is_floating(element_of<V>) && is_floating(element_of<W>)) {
            keep(&kernels::descend<V, W>);
            (with_momentum<V, W, T>(), ...);
        }
    }
    template <class W, class V, class G>
    static void with_momentum() {
        if constexpr (is_floating(element_of<G>)) keep(&kernels::descend_with_momentum<W, V, G>);
    }
};

}  // namespace dovetail
