// The only kernel that running a plan needs: a reduction on one GPU, for single-rank graphs and reductions by copy engines. It is compiled
// into units that nvcc compiles and that include the backend; without such a unit, making an executor that needs the kernel is an error
// that says so.
#pragma once

#include "../../../core/extremes.hpp"
#include "../../../core/vocabulary.hpp"

#include <cuda_runtime_api.h>

namespace dovetail::cuda {

inline constexpr int most_local_sources = 64;

struct local_sources {
    const void* at[most_local_sources] = {};
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

template <class T>
__global__ void reduce_locally(local_sources from, reduction how, T* to, std::int64_t count) {
    using W = typename wide<T>::type;
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
        T best = static_cast<const T*>(from.at[0])[i];
        W sum = static_cast<W>(best);
        for (int s = 1; s < from.count; ++s) {
            const T next = static_cast<const T*>(from.at[s])[i];
            if (how == reduction::minimum)
                best = minimum_of(best, next);
            else if (how == reduction::maximum)
                best = maximum_of(best, next);
            else if (how == reduction::product)
                sum = sum * static_cast<W>(next);
            else
                sum = sum + static_cast<W>(next);
        }
        if (how == reduction::minimum || how == reduction::maximum)
            to[i] = best;
        else if (how != reduction::average)
            to[i] = static_cast<T>(sum);
        else if constexpr (is_signed_integer<T>)
            to[i] = static_cast<T>(static_cast<std::int64_t>(sum) / from.count);
        else
            to[i] = static_cast<T>(sum / static_cast<W>(from.count));
    }
}

template <class T>
void launch_local_reduction(cudaStream_t on, reduction how, const local_sources& from, void* to, std::int64_t count) {
    const std::int64_t blocks = (count + 255) / 256;
    reduce_locally<T><<<static_cast<unsigned>(blocks < 1056 ? blocks : 1056), 256, 0, on>>>(from, how, static_cast<T*>(to), count);
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
