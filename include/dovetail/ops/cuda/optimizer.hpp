// CUDA kernels of the optimizers, in place over n elements. The learning rate is read on the device and may have any floating element.
#pragma once

#include "../adam.hpp"
#include "launch.hpp"

namespace dovetail::kernels {

// A floating-point scalar in device memory.
struct floating_scalar {
    const void* pointer;
    element type;
};

// w -= rate g
template <class W, class G>
[[gnu::used]] void descend(cuda::stream s, std::int64_t n, W* w, const G* g, floating_scalar rate);

// v = momentum v + g, w -= rate v
template <class W, class V, class G>
[[gnu::used]] void descend_with_momentum(cuda::stream s, std::int64_t n, W* w, V* v, const G* g, floating_scalar rate,
                                         ops_detail::arithmetic_t<W> momentum);

// One step of AdamW with the gradient g times `factor`, or times one where that has no pointer; the step is an int32 in device memory.
template <class W, class M, class V, class G>
[[gnu::used]] void adam_w(cuda::stream s, std::int64_t n, W* w, M* m, V* v, const G* g, ops_detail::adam_constants constants,
                          floating_scalar rate, const std::int32_t* step, floating_scalar factor);

// Writes a sum of squares of x for each of `partial_sums` blocks; the second function adds up `n` of them, in a fixed order.
inline constexpr int partial_sums = 256;
template <class T, class R>
[[gnu::used]] void sums_of_squares(cuda::stream s, std::int64_t n, const T* x, R* sums);
template <class R>
[[gnu::used]] void add_up(cuda::stream s, std::int64_t n, const R* sums, R* total);

#if defined(__CUDACC__)

namespace detail {

template <class R>
__device__ R read(floating_scalar x) {
    switch (x.type) {
        case element::float16: return static_cast<R>(widen(*static_cast<const half*>(x.pointer)));
        case element::bfloat16: return static_cast<R>(widen(*static_cast<const bfloat16*>(x.pointer)));
        case element::float64: return static_cast<R>(*static_cast<const double*>(x.pointer));
        default: return static_cast<R>(*static_cast<const float*>(x.pointer));
    }
}

template <int N, class W, class G, class R>
__device__ void descend_pack(W* to, const G* gradient, R rate) {
    auto w = pack<W, N>::load(to);
    const auto g = pack<G, N>::load(gradient);
#pragma unroll
    for (int k = 0; k < N; ++k) {
        const auto x = widen(g.at[k]);
        using C = decltype(rate * x);
        w.at[k] = narrow<W>(widen(w.at[k]) - product(static_cast<C>(rate), static_cast<C>(x)));
    }
    w.store(to);
}
template <int N, class W, class G>
__global__ void __launch_bounds__(threads) descend_kernel(std::int64_t n, W* w, const G* g, floating_scalar from) {
    const auto rate = read<ops_detail::arithmetic_t<W>>(from);
    const std::int64_t packs = n / N;
    for (std::int64_t i = first_unit(); i < packs; i += unit_stride()) descend_pack<N>(w + i * N, g + i * N, rate);
    for (std::int64_t i = packs * N + first_unit(); i < n; i += unit_stride()) descend_pack<1>(w + i, g + i, rate);
}

template <int N, class W, class V, class G, class R>
__device__ void momentum_pack(W* to, V* speed, const G* gradient, R rate, R momentum) {
    auto w = pack<W, N>::load(to);
    auto v = pack<V, N>::load(speed);
    const auto g = pack<G, N>::load(gradient);
#pragma unroll
    for (int k = 0; k < N; ++k) {
        const R velocity = product(momentum, static_cast<R>(widen(v.at[k]))) + static_cast<R>(widen(g.at[k]));
        v.at[k] = narrow<V>(velocity);
        w.at[k] = narrow<W>(widen(w.at[k]) - product(rate, velocity));
    }
    v.store(speed);
    w.store(to);
}
template <int N, class W, class V, class G, class R>
__global__ void __launch_bounds__(threads) momentum_kernel(std::int64_t n, W* w, V* v, const G* g, floating_scalar from, R momentum) {
    const R rate = read<R>(from);
    const std::int64_t packs = n / N;
    for (std::int64_t i = first_unit(); i < packs; i += unit_stride()) momentum_pack<N>(w + i * N, v + i * N, g + i * N, rate, momentum);
    for (std::int64_t i = packs * N + first_unit(); i < n; i += unit_stride()) momentum_pack<1>(w + i, v + i, g + i, rate, momentum);
}

template <int N, class W, class M, class V, class G, class R>
__device__ void adam_pack(W* weight, M* mean, V* square, const G* gradient, R factor, const ops_detail::adam_step<R>& step) {
    auto w = pack<W, N>::load(weight);
    auto m = pack<M, N>::load(mean);
    auto v = pack<V, N>::load(square);
    const auto g = pack<G, N>::load(gradient);
#pragma unroll
    for (int k = 0; k < N; ++k) {
        const ops_detail::adam_state<R> before{R(widen(w.at[k])), R(widen(m.at[k])), R(widen(v.at[k]))};
        const auto next = step(before, factor * R(widen(g.at[k])));
        w.at[k] = narrow<W>(next.weight);
        m.at[k] = narrow<M>(next.mean);
        v.at[k] = narrow<V>(next.square);
    }
    w.store(weight);
    m.store(mean);
    v.store(square);
}
template <int N, class W, class M, class V, class G>
__global__ void __launch_bounds__(threads) adam_kernel(std::int64_t n, W* w, M* m, V* v, const G* g, ops_detail::adam_constants constants,
                                                       floating_scalar rate, const std::int32_t* count, floating_scalar of_gradient) {
    using R = ops_detail::arithmetic_t<W>;
    const ops_detail::adam_step<R> step{constants, read<double>(rate), *count};
    const R factor = of_gradient.pointer != nullptr ? read<R>(of_gradient) : R(1);
    const std::int64_t packs = n / N;
    for (std::int64_t i = first_unit(); i < packs; i += unit_stride())
        adam_pack<N>(w + i * N, m + i * N, v + i * N, g + i * N, factor, step);
    for (std::int64_t i = packs * N + first_unit(); i < n; i += unit_stride()) adam_pack<1>(w + i, m + i, v + i, g + i, factor, step);
}

template <int N, class T, class R>
__global__ void __launch_bounds__(threads) squares_kernel(std::int64_t n, const T* x, R* sums) {
    R sum{};
    const std::int64_t packs = n / N;
    for (std::int64_t i = first_unit(); i < packs; i += unit_stride()) {
        const auto p = pack<T, N>::load(x + i * N);
#pragma unroll
        for (int k = 0; k < N; ++k) sum += R(widen(p.at[k])) * R(widen(p.at[k]));
    }
    for (std::int64_t i = packs * N + first_unit(); i < n; i += unit_stride()) sum += R(widen(x[i])) * R(widen(x[i]));
    sum = over_group<threads>(sum, [](R a, R b) { return a + b; });
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <class R>
__global__ void __launch_bounds__(threads) add_up_kernel(std::int64_t n, const R* sums, R* total) {
    R sum{};
    for (std::int64_t i = threadIdx.x; i < n; i += threads) sum += sums[i];
    sum = over_group<threads>(sum, [](R a, R b) { return a + b; });
    if (threadIdx.x == 0) *total = sum;
}

}  // namespace detail

template <class W, class G>
void descend(cuda::stream s, std::int64_t n, W* w, const G* g, floating_scalar rate) {
    if (n == 0) return;
    constexpr int N = pack_of<W, G>;
    if (fits_packs<N>(w, g))
        detail::descend_kernel<N><<<blocks_for(s, (n + N - 1) / N), threads, 0, on(s)>>>(n, w, g, rate);
    else
        detail::descend_kernel<1><<<blocks_for(s, n), threads, 0, on(s)>>>(n, w, g, rate);
    s.services->launched("kernel sgd");
}

template <class W, class V, class G>
void descend_with_momentum(cuda::stream s, std::int64_t n, W* w, V* v, const G* g, floating_scalar rate,
                           ops_detail::arithmetic_t<W> momentum) {
    if (n == 0) return;
    constexpr int N = pack_of<W, V, G>;
    if (fits_packs<N>(w, v, g))
        detail::momentum_kernel<N><<<blocks_for(s, (n + N - 1) / N), threads, 0, on(s)>>>(n, w, v, g, rate, momentum);
    else
        detail::momentum_kernel<1><<<blocks_for(s, n), threads, 0, on(s)>>>(n, w, v, g, rate, momentum);
    s.services->launched("kernel sgd_momentum");
}

template <class W, class M, class V, class G>
void adam_w(cuda::stream s, std::int64_t n, W* w, M* m, V* v, const G* g, ops_detail::adam_constants constants, floating_scalar rate,
            const std::int32_t* step, floating_scalar factor) {
    if (n == 0) return;
    constexpr int N = pack_of<W, M, V, G>;
    if (fits_packs<N>(w, m, v, g))
        detail::adam_kernel<N><<<blocks_for(s, (n + N - 1) / N), threads, 0, on(s)>>>(n, w, m, v, g, constants, rate, step, factor);
    else
        detail::adam_kernel<1><<<blocks_for(s, n), threads, 0, on(s)>>>(n, w, m, v, g, constants, rate, step, factor);
    s.services->launched("kernel adam_w");
}

template <class T, class R>
void sums_of_squares(cuda::stream s, std::int64_t n, const T* x, R* sums) {
    constexpr int N = pack_of<T>;
    if (fits_packs<N>(x))
        detail::squares_kernel<N><<<partial_sums, threads, 0, on(s)>>>(n, x, sums);
    else
        detail::squares_kernel<1><<<partial_sums, threads, 0, on(s)>>>(n, x, sums);
    s.services->launched("kernel sums_of_squares");
}

template <class R>
void add_up(cuda::stream s, std::int64_t n, const R* sums, R* total) {
    detail::add_up_kernel<<<1, threads, 0, on(s)>>>(n, sums, total);
    s.services->launched("kernel add_up");
}

#endif

}  // namespace dovetail::kernels
