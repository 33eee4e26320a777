// The kernel of dv::check_finite: searches a value on a GPU for NaN and infinity. It is compiled into units that nvcc compiles and that
// include the backend; without such a unit, requesting the check is an error that says so.
#pragma once

#include "../../../core/element.hpp"

#include <cuda_runtime_api.h>

namespace dovetail::cuda {

// Writes to `first` the minimum of its value and a code of the first element that is not finite: twice the index, plus one if it is
// infinite.
using finite_check = void (*)(cudaStream_t, element, const void* data, std::int64_t count, unsigned long long* first);

// Set by any unit that nvcc compiles.
inline finite_check finite_check_kernel = nullptr;

#if defined(__CUDACC__)
namespace detail {

// All bits of the exponent are set; with a mantissa of zero the value is infinite, otherwise NaN.
template <class T> struct float_layout;
template <> struct float_layout<half> {
    using bits = std::uint16_t;
    static constexpr bits exponent = 0x7c00, mantissa = 0x03ff;
};
template <> struct float_layout<bfloat16> {
    using bits = std::uint16_t;
    static constexpr bits exponent = 0x7f80, mantissa = 0x007f;
};
template <> struct float_layout<float> {
    using bits = std::uint32_t;
    static constexpr bits exponent = 0x7f800000, mantissa = 0x007fffff;
};
template <> struct float_layout<double> {
    using bits = std::uint64_t;
    static constexpr bits exponent = 0x7ff0000000000000, mantissa = 0x000fffffffffffff;
};

template <class T>
__global__ void find_non_finite(const T* data, std::int64_t count, unsigned long long* first) {
    using layout = float_layout<T>;
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
        const auto bits = reinterpret_cast<const typename layout::bits*>(data)[i];
        if ((bits & layout::exponent) != layout::exponent) continue;
        atomicMin(first, 2 * static_cast<unsigned long long>(i) + ((bits & layout::mantissa) == 0 ? 1 : 0));
        return;
    }
}

template <class T>
void launch_finite_check(cudaStream_t on, const void* data, std::int64_t count, unsigned long long* first) {
    const std::int64_t blocks = (count + 255) / 256;
    find_non_finite<T><<<static_cast<unsigned>(blocks < 1056 ? blocks : 1056), 256, 0, on>>>(static_cast<const T*>(data), count, first);
}

inline void launch_any_finite_check(cudaStream_t on, element type, const void* data, std::int64_t count, unsigned long long* first) {
    switch (type) {
        case element::float16: return launch_finite_check<half>(on, data, count, first);
        case element::bfloat16: return launch_finite_check<bfloat16>(on, data, count, first);
        case element::float32: return launch_finite_check<float>(on, data, count, first);
        case element::float64: return launch_finite_check<double>(on, data, count, first);
        default: return;
    }
}

inline const bool finite_check_is_there = (finite_check_kernel = &launch_any_finite_check) != nullptr;

}  // namespace detail
#endif

}  // namespace dovetail::cuda
