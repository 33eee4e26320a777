// The only kernel that running a plan needs: a reduction on one GPU, for single-rank graphs and reductions by copy engines. It is compiled
// into units that nvcc compiles and that include the backend; without such a unit, making an executor that needs the kernel is an error
// that says so.
#pragma once

#include "../../../core/extremes.hpp"
#include "../../../core/vocabulary.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

namespace dovetail::cuda {

struct local_sources {
    const void* at[most_reduced_blocks] = {};
    int count = 0;
};
using local_reduction = void (*)(cudaStream_t, element, reduction, const local_sources&, void* to, std::int64_t count);

// Set by any unit that nvcc compiles.
inline local_reduction local_reduction_kernel = nullptr;

#if defined(__CUDACC__)
namespace detail {

// As on the host: half and bfloat16 are summed in float and rounded once, integers wrap, an average is the sum divided by the number of
// members.
template <class T> struct wide {
    using type = T;
};
template <> struct wide<half> {
    using type = float;
};
template <> struct wide<bfloat16> {
    using type = float;
};
template <> struct wide<std::int8_t> {
    using type = std::uint64_t;
};
template <> struct wide<std::uint8_t> {
    using type = std::uint64_t;
};
template <> struct wide<std::int32_t> {
    using type = std::uint64_t;
};
template <> struct wide<std::uint32_t> {
    using type = std::uint64_t;
};
template <> struct wide<std::int64_t> {
    using type = std::uint64_t;
};

template <class T>
constexpr bool is_signed_integer = static_cast<T>(-1) < static_cast<T>(0) && static_cast<T>(1) / static_cast<T>(2) == static_cast<T>(0);
template <>
inline constexpr bool is_signed_integer<half> = false;
template <>
inline constexpr bool is_signed_integer<bfloat16> = false;

// For sums, in which NaN loses its sign and payload anyhow: so halves need no test for it.
template <class T>
__device__ typename wide<T>::type widened(T x) {
    if constexpr (std::is_same_v<T, half>) {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
        return value;
    } else {
        return static_cast<typename wide<T>::type>(x);
    }
}

template <class T>
__device__ T narrowed(typename wide<T>::type x) {
    if constexpr (std::is_same_v<T, half>) {
        half value;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value.bits) : "f"(x));
        return value;
    } else {
        return static_cast<T>(x);
    }
}

// An average, rounded once.
template <class T, class W>
__device__ T divided(W sum, int count) {
    if constexpr (is_signed_integer<T>)
        return static_cast<T>(static_cast<std::int64_t>(sum) / count);
    else
        return narrowed<T>(sum / static_cast<W>(count));
}

// What a thread reads and writes at once.
template <class T, int Width> struct alignas(sizeof(T) * Width) pack {
    T of[Width];
};

inline constexpr int read_ahead = 4;  // blocks of which a thread reads an element before it adds the first

// Sums and averages.
template <class T, int Width>
__global__ void sum_locally(local_sources from, bool average, T* to, std::int64_t count) {
    using W = typename wide<T>::type;
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count / Width; i += stride) {
        pack<T, Width> read[read_ahead], result;
        W sum[Width];
        for (int s = 0; s < from.count; s += read_ahead) {
#pragma unroll
            for (int r = 0; r < read_ahead; ++r)
                if (s + r < from.count) read[r] = static_cast<const pack<T, Width>*>(from.at[s + r])[i];
#pragma unroll
            for (int r = 0; r < read_ahead; ++r)
                if (s + r < from.count)
                    for (int k = 0; k < Width; ++k) sum[k] = s + r == 0 ? widened(read[r].of[k]) : sum[k] + widened(read[r].of[k]);
        }
        for (int k = 0; k < Width; ++k) result.of[k] = average ? divided<T>(sum[k], from.count) : narrowed<T>(sum[k]);
        reinterpret_cast<pack<T, Width>*>(to)[i] = result;
    }
}

// Products, minima and maxima.
template <class T, int Width>
__global__ void reduce_locally(local_sources from, reduction how, T* to, std::int64_t count) {
    using W = typename wide<T>::type;
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count / Width; i += stride) {
        pack<T, Width> best = static_cast<const pack<T, Width>*>(from.at[0])[i];
        W product[Width];
        for (int k = 0; k < Width; ++k) product[k] = static_cast<W>(best.of[k]);
        for (int s = 1; s < from.count; ++s) {
            const pack<T, Width> next = static_cast<const pack<T, Width>*>(from.at[s])[i];
            for (int k = 0; k < Width; ++k)
                if (how == reduction::minimum)
                    best.of[k] = minimum_of(best.of[k], next.of[k]);
                else if (how == reduction::maximum)
                    best.of[k] = maximum_of(best.of[k], next.of[k]);
                else
                    product[k] = product[k] * static_cast<W>(next.of[k]);
        }
        if (how == reduction::product)
            for (int k = 0; k < Width; ++k) best.of[k] = static_cast<T>(product[k]);
        reinterpret_cast<pack<T, Width>*>(to)[i] = best;
    }
}

// Two blocks of 512 threads on each multiprocessor of an H200: enough for its memory, and a product beside them goes on.
inline constexpr int reduction_threads = 512, most_reduction_blocks = 264;

inline unsigned reduction_blocks(std::int64_t threads) {
    const std::int64_t blocks = (threads + reduction_threads - 1) / reduction_threads;
    return static_cast<unsigned>(blocks < 1 ? 1 : blocks < most_reduction_blocks ? blocks : most_reduction_blocks);
}

template <class T, int Width>
void launch_packed_reduction(cudaStream_t on, reduction how, const local_sources& from, T* to, std::int64_t count) {
    const unsigned blocks = reduction_blocks(count / Width);
    if (how == reduction::sum || how == reduction::average)
        sum_locally<T, Width><<<blocks, reduction_threads, 0, on>>>(from, how == reduction::average, to, count);
    else
        reduce_locally<T, Width><<<blocks, reduction_threads, 0, on>>>(from, how, to, count);
}

// Reads 16 bytes at once where all addresses and the number of elements allow it. A call without elements loads both kernels.
template <class T>
void launch_local_reduction(cudaStream_t on, reduction how, const local_sources& from, void* into, std::int64_t count) {
    constexpr int width = 16 / sizeof(T);
    T* const to = static_cast<T*>(into);
    auto bits = reinterpret_cast<std::uintptr_t>(to) | static_cast<std::uintptr_t>(count % width);
    for (int s = 0; s < from.count; ++s) bits |= reinterpret_cast<std::uintptr_t>(from.at[s]);
    if (bits % 16 == 0) launch_packed_reduction<T, width>(on, how, from, to, count);
    if (bits % 16 != 0 || count == 0) launch_packed_reduction<T, 1>(on, how, from, to, count);
}

inline void launch_any_local_reduction(cudaStream_t on, element type, reduction how, const local_sources& from, void* to,
                                       std::int64_t count) {
    switch (type) {
        case element::float16: return launch_local_reduction<half>(on, how, from, to, count);
        case element::bfloat16: return launch_local_reduction<bfloat16>(on, how, from, to, count);
        case element::float32: return launch_local_reduction<float>(on, how, from, to, count);
        case element::float64: return launch_local_reduction<double>(on, how, from, to, count);
        case element::int8: return launch_local_reduction<std::int8_t>(on, how, from, to, count);
        case element::uint8: return launch_local_reduction<std::uint8_t>(on, how, from, to, count);
        case element::int32: return launch_local_reduction<std::int32_t>(on, how, from, to, count);
        case element::uint32: return launch_local_reduction<std::uint32_t>(on, how, from, to, count);
        case element::int64: return launch_local_reduction<std::int64_t>(on, how, from, to, count);
        case element::uint64: return launch_local_reduction<std::uint64_t>(on, how, from, to, count);
        case element::none: return;
    }
}

inline const bool local_reduction_is_there = (local_reduction_kernel = &launch_any_local_reduction) != nullptr;

}  // namespace detail
#endif

}  // namespace dovetail::cuda
