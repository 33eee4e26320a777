// Helpers of the shipped kernels: conversion between storage and arithmetic types, loads and stores of sixteen bytes, grid sizes, sums
// within a warp or a block. Launches reach the rest of CUDA through the services of their stream.
//
// The functions of ops/cuda are templates over elements and function objects, never over names or extents. Every unit sees their
// declarations; only a unit that nvcc compiles defines them. A graph in a .cpp file therefore needs one .cu file in its program that
// instantiates its kernels (instances.hpp); a graph in a .cu file needs nothing.
#pragma once

#include "../facts.hpp"

#if defined(__CUDACC__)

#include <initializer_list>
#include <type_traits>

namespace dovetail::kernels {

// half and bfloat16 use the hardware's conversions, which round as those of core/element.hpp do.
template <class T>
__device__ inline T widen(T value) {
    return value;
}
__device__ inline float widen(bfloat16 value) { return value; }
__device__ inline float widen(half value) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
    return wide;
}
template <class T, class R>
__device__ inline T narrow(R value) {
    if constexpr (std::is_same_v<T, half>) {
        half narrowed;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrowed.bits) : "f"(static_cast<float>(value)));
        return narrowed;
    } else if constexpr (std::is_same_v<T, bfloat16>) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        bfloat16 narrowed;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrowed.bits) : "f"(static_cast<float>(value)));
        return narrowed;
#else
        return bfloat16{static_cast<float>(value)};
#endif
    } else {
        return static_cast<T>(value);
    }
}

// Never contracted into a multiply-add, so that results round as on the host.
__device__ inline float product(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double product(double a, double b) { return __dmul_rn(a, b); }

namespace detail {
template <int Bytes> struct word;
template <> struct word<1> {
    using type = unsigned char;
};
template <> struct word<2> {
    using type = unsigned short;
};
template <> struct word<4> {
    using type = unsigned;
};
template <> struct word<8> {
    using type = uint2;
};
template <> struct word<16> {
    using type = uint4;
};
}  // namespace detail

// N adjacent elements, loaded or stored as one word of up to sixteen bytes.
template <class T, int N>
struct pack {
    T at[N];

    using word = typename detail::word<N* static_cast<int>(sizeof(T))>::type;
    static __device__ pack load(const T* p) { return __builtin_bit_cast(pack, *reinterpret_cast<const word*>(p)); }
    __device__ void store(T* p) const { *reinterpret_cast<word*>(p) = __builtin_bit_cast(word, *this); }
};

// How many elements of the largest of these types fit in sixteen bytes, and whether pointers are aligned for such accesses.
template <class... T>
inline constexpr int pack_of = [] {
    int largest = 1;
    for (const int size : {static_cast<int>(sizeof(T))...}) largest = size > largest ? size : largest;
    return 16 / largest;
}();
template <int N, class... T>
bool fits_packs(const T*... p) {
    return ((reinterpret_cast<std::uintptr_t>(p) % (N * sizeof(T)) == 0) && ...);
}

inline cudaStream_t on(cuda::stream s) { return static_cast<cudaStream_t>(s.handle); }

inline constexpr int threads = 256;
// Number of blocks for `units` of work: at most as many as fill the given multiprocessors, or a whole GPU several times. Kernels loop over
// the rest with a grid stride.
inline unsigned blocks_for(cuda::stream s, std::int64_t units, int units_of_block = threads) {
    const std::int64_t most = s.sms > 0 ? std::int64_t{8} * s.sms : 8192;
    const std::int64_t wanted = (units + units_of_block - 1) / units_of_block;
    return static_cast<unsigned>(wanted < most ? wanted : most);
}
__device__ inline std::int64_t first_unit() { return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline std::int64_t unit_stride() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

// The smallest power of two that is at least `x`, limited to `most`.
inline int power_of_two(std::int64_t x, int most) {
    int p = 1;
    while (p < x && p < most) p *= 2;
    return p;
}

// Reduces over a group of Threads threads (a warp or a whole block): every thread gets the result. `combine` is commutative, and the order
// of combination is fixed, so that equal values give equal bits.
template <class R>
__device__ R from_lane(R value, int distance) {
    return __shfl_xor_sync(0xffffffffu, value, distance);
}

template <int Threads, class R, class Combine>
__device__ R over_group(R value, Combine combine) {
    for (int distance = 16; distance > 0; distance /= 2) value = combine(value, from_lane(value, distance));
    if constexpr (Threads > 32) {
        __shared__ alignas(16) unsigned char shared[Threads / 32 * sizeof(R)];
        R* const of_warp = reinterpret_cast<R*>(shared);
        __syncthreads();  // all earlier reads of the shared memory are complete
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
        __syncthreads();
        value = of_warp[0];
        for (int w = 1; w < Threads / 32; ++w) value = combine(value, of_warp[w]);
    }
    return value;
}

}  // namespace dovetail::kernels

#endif
