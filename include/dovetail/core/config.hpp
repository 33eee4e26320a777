// The library's version and the only macros it defines.
#pragma once

#define DOVETAIL_VERSION_MAJOR 0
#define DOVETAIL_VERSION_MINOR 1
#define DOVETAIL_VERSION_PATCH 0

static_assert(__cplusplus >= 202002L, "dovetail needs C++20: compile with -std=c++20 or later");

// Functions that kernels call too (element conversions, views) carry this mark; without nvcc it is empty.
#if defined(__CUDACC__)
#define DOVETAIL_HOST_DEVICE __host__ __device__
#else
#define DOVETAIL_HOST_DEVICE
#endif

// Separate compilation. What is neither a template nor a constant stands in a file of its own, `x.ipp` beside `x.hpp`, and opens with
// this mark. Header-only, the default: `x.hpp` includes `x.ipp` at its end, and the mark is `inline`. With
// DOVETAIL_SEPARATE_COMPILATION defined in all units of a program, `x.hpp` only declares, and the one unit that includes
// dovetail/src.hpp compiles each `x.ipp`, once. What a program may ask for that needs more headers stands behind such a pair.
#if defined(DOVETAIL_SEPARATE_COMPILATION)
#define DOVETAIL_INLINE
#else
#define DOVETAIL_INLINE inline
#endif

namespace dovetail {

// nvcc compiles a unit for the host and, once more for each architecture, for the device, where it generates the kernels
// that host functions call and nothing else. What only host code needs is left out there, as long as the same kernels are
// called; whatever is wrong the pass for the host refuses.
#if defined(__CUDA_ARCH__)
inline constexpr bool device_pass = true;
#else
inline constexpr bool device_pass = false;
#endif

}  // namespace dovetail
