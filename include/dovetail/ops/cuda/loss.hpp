// CUDA kernels of softmax cross entropy, argmax and correct_count over row-major [rows, classes]: one warp per row, or one block per row
// where rows are long. A label out of range makes the loss NaN, since a kernel cannot throw.
#pragma once

#include "softmax.hpp"

namespace dovetail::kernels {

// Probabilities of each row and the mean loss. `losses` is memory for one number per row; they are added up in a fixed order.
template <class T, class R>
[[gnu::used]] void softmax_cross_entropy(cuda::stream s, std::int64_t rows, std::int64_t classes, const T* logits,
                                         const std::int32_t* labels, T* probabilities, R* loss, R* losses);

// (probabilities - one at the label) / rows; y may be the memory of the probabilities.
template <class T>
[[gnu::used]] void softmax_cross_entropy_gradient(cuda::stream s, std::int64_t rows, std::int64_t classes, const T* probabilities,
                                                  const std::int32_t* labels, T* y);

// Index of the largest element of each row; of equal ones, the first.
template <class T>
[[gnu::used]] void places_of_largest(cuda::stream s, std::int64_t rows, std::int64_t classes, const T* x, std::int32_t* y);

// Number of rows whose largest element is at the label.
template <class T>
[[gnu::used]] void count_correct(cuda::stream s, std::int64_t rows, std::int64_t classes, const T* x, const std::int32_t* labels,
                                 std::int32_t* count);

#if defined(__CUDACC__)

namespace detail {

template <int Threads, int N, class T, class R>
__global__ void __launch_bounds__(threads) cross_entropy_kernel(std::int64_t rows, std::int64_t classes, const T* logits,
                                                                const std::int32_t* labels, T* probabilities, R* losses) {
    for (std::int64_t i = first_row_of_group<Threads>(); i < rows; i += groups<Threads>()) {
        const T* x = logits + i * classes;
        const auto shift = softmax_shift_of<Threads, N>(classes, x);
        if (threadIdx.x % Threads == 0) {
            const std::int32_t label = labels[i];
            losses[i] = label < 0 || label >= classes ? not_a_number<R> : shift.log_sum - (R(widen(x[label])) - shift.largest);
        }
        softmax_of_row<Threads, N>(classes, x, shift, probabilities + i * classes);
    }
}

template <int N, class T, class R>
void cross_entropy_rows(cuda::stream s, std::int64_t rows, std::int64_t classes, const T* logits, const std::int32_t* labels,
                        T* probabilities, R* losses) {
    if (classes < long_row)
        cross_entropy_kernel<32, N>
            <<<blocks_for(s, rows, threads / 32), threads, 0, on(s)>>>(rows, classes, logits, labels, probabilities, losses);
    else
        cross_entropy_kernel<threads, N>
            <<<blocks_for(s, rows, 1), threads, 0, on(s)>>>(rows, classes, logits, labels, probabilities, losses);
    s.services->launched("kernel softmax_cross_entropy");
}

inline constexpr int mean_threads = 1024;

template <class R>
__global__ void __launch_bounds__(mean_threads) mean_kernel(std::int64_t n, const R* x, R* y) {
    R sum{};
    for (std::int64_t i = threadIdx.x; i < n; i += mean_threads) sum += x[i];
    sum = over_group<mean_threads>(sum, [](R a, R b) { return a + b; });
    if (threadIdx.x == 0) *y = sum / static_cast<R>(n);
}

template <int N, class T>
__global__ void __launch_bounds__(threads)
    cross_entropy_gradient_kernel(std::int64_t rows, std::int64_t classes, const T* probabilities, const std::int32_t* labels, T* y,
                                  ops_detail::arithmetic_t<T> share) {
    using R = ops_detail::arithmetic_t<T>;
    for (std::int64_t j = first_unit() * N; j < classes; j += unit_stride() * N)
        for (std::int64_t i = first_row(); i < rows; i += row_stride()) {
            auto p = pack<T, N>::load(probabilities + i * classes + j);
            const std::int64_t label = labels[i];
#pragma unroll
            for (int k = 0; k < N; ++k) p.at[k] = narrow<T>((widen(p.at[k]) - (j + k == label ? R(1) : R{})) * share);
            p.store(y + i * classes + j);
        }
}

template <class R>
struct candidate {
    R value;
    std::int32_t place;
};
template <class R>
__device__ candidate<R> from_lane(candidate<R> c, int distance) {
    return {kernels::from_lane(c.value, distance), kernels::from_lane(c.place, distance)};
}

// As on the host, comparisons with NaN are false: NaN never replaces the largest, and nothing replaces NaN.
template <int Threads, class T>
__device__ std::int32_t place_of_largest(std::int64_t classes, const T* x) {
    using R = std::conditional_t<sizeof(T) == 1, int, ops_detail::arithmetic_t<T>>;
    candidate<R> best{static_cast<R>(widen(x[0])), 0};
    for_share<Threads, 1, R>(classes, x, [&](R value, std::int64_t j) {
        if (value > best.value) best = {value, static_cast<std::int32_t>(j)};
    });
    return over_group<Threads>(
               best, [](candidate<R> a, candidate<R> b) { return b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a; })
        .place;
}

template <int Threads, class T>
__global__ void __launch_bounds__(threads) places_kernel(std::int64_t rows, std::int64_t classes, const T* x, std::int32_t* y) {
    for (std::int64_t i = first_row_of_group<Threads>(); i < rows; i += groups<Threads>()) {
        const std::int32_t place = place_of_largest<Threads>(classes, x + i * classes);
        if (threadIdx.x % Threads == 0) y[i] = place;
    }
}

template <int Threads, class T>
__global__ void __launch_bounds__(threads)
    correct_kernel(std::int64_t rows, std::int64_t classes, const T* x, const std::int32_t* labels, std::int32_t* count) {
    std::int32_t correct = 0;
    for (std::int64_t i = first_row_of_group<Threads>(); i < rows; i += groups<Threads>())
        correct += place_of_largest<Threads>(classes, x + i * classes) == labels[i] ? 1 : 0;
    if (threadIdx.x % Threads == 0 && correct > 0) atomicAdd(count, correct);
}

}  // namespace detail

template <class T, class R>
void softmax_cross_entropy(cuda::stream s, std::int64_t rows, std::int64_t classes, const T* logits, const std::int32_t* labels,
                           T* probabilities, R* loss, R* losses) {
    if (rows == 0) return s.services->zero(s, loss, sizeof(R));
    if (losses == nullptr || s.workspace_bytes < rows * static_cast<std::int64_t>(sizeof(R)))
        s.services->refuse("softmax_cross_entropy needs the workspace that it declares");
    constexpr int N = pack_of<T>;
    if (classes % N == 0 && fits_packs<N>(logits, probabilities))
        detail::cross_entropy_rows<N>(s, rows, classes, logits, labels, probabilities, losses);
    else
        detail::cross_entropy_rows<1>(s, rows, classes, logits, labels, probabilities, losses);
    detail::mean_kernel<<<1, detail::mean_threads, 0, on(s)>>>(rows, static_cast<const R*>(losses), loss);
    s.services->launched("kernel mean");
}

template <class T>
void softmax_cross_entropy_gradient(cuda::stream s, std::int64_t rows, std::int64_t classes, const T* probabilities,
                                    const std::int32_t* labels, T* y) {
    if (rows == 0 || classes == 0) return;
    using R = ops_detail::arithmetic_t<T>;
    const R share = R(1) / static_cast<R>(rows);
    constexpr int N = pack_of<T>;
    if (classes % N == 0 && fits_packs<N>(probabilities, y)) {
        const detail::rectangle r{s, rows, classes / N, threads, threads};
        detail::cross_entropy_gradient_kernel<N><<<r.blocks, r.threads, 0, on(s)>>>(rows, classes, probabilities, labels, y, share);
    } else {
        const detail::rectangle r{s, rows, classes, threads, threads};
        detail::cross_entropy_gradient_kernel<1><<<r.blocks, r.threads, 0, on(s)>>>(rows, classes, probabilities, labels, y, share);
    }
    s.services->launched("kernel softmax_cross_entropy_gradient");
}

template <class T>
void places_of_largest(cuda::stream s, std::int64_t rows, std::int64_t classes, const T* x, std::int32_t* y) {
    if (rows == 0) return;
    if (classes < detail::long_row)
        detail::places_kernel<32><<<blocks_for(s, rows, threads / 32), threads, 0, on(s)>>>(rows, classes, x, y);
    else
        detail::places_kernel<threads><<<blocks_for(s, rows, 1), threads, 0, on(s)>>>(rows, classes, x, y);
    s.services->launched("kernel argmax");
}

template <class T>
void count_correct(cuda::stream s, std::int64_t rows, std::int64_t classes, const T* x, const std::int32_t* labels, std::int32_t* count) {
    s.services->zero(s, count, sizeof(std::int32_t));
    if (rows == 0) return;
    if (classes < detail::long_row)
        detail::correct_kernel<32><<<blocks_for(s, rows, threads / 32), threads, 0, on(s)>>>(rows, classes, x, labels, count);
    else
        detail::correct_kernel<threads><<<blocks_for(s, rows, 1), threads, 0, on(s)>>>(rows, classes, x, labels, count);
    s.services->launched("kernel correct_count");
}

#endif

}  // namespace dovetail::kernels
