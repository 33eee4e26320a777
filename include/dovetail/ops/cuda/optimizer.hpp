// CUDA kernels of the optimizers, in place over n elements. The learning rate is read on the device and may have any floating element.
#pragma once

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

#endif

}  // namespace dovetail::kernels
