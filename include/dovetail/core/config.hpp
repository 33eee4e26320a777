// The library's version and the only macros that outlive the header that defines them.
#pragma once

#define DOVETAIL_VERSION_MAJOR 0
#define DOVETAIL_VERSION_MINOR 1
#define DOVETAIL_VERSION_PATCH 0
// One number for comparisons, `#if DOVETAIL_VERSION >= 100` (0.1.0), and the text. `.packaging/release` checks that they agree.
#define DOVETAIL_VERSION (DOVETAIL_VERSION_MAJOR * 10000 + DOVETAIL_VERSION_MINOR * 100 + DOVETAIL_VERSION_PATCH)
#define DOVETAIL_VERSION_STRING "0.1.0"

static_assert(__cplusplus >= 202002L, "dovetail needs C++20: compile with -std=c++20 or later");

// Marks functions that kernels also call (element conversions, views); empty without nvcc.
#if defined(__CUDACC__)
#define DOVETAIL_HOST_DEVICE __host__ __device__
#else
#define DOVETAIL_HOST_DEVICE
#endif

// Separate compilation. A function that is neither a template nor constexpr is defined in `x.ipp` beside `x.hpp`, with this mark.
// Header-only, the default: `x.hpp` includes `x.ipp` at its end, and the mark is `inline`. With DOVETAIL_SEPARATE_COMPILATION defined in
// all units of a program, `x.hpp` only declares, and the one unit that includes dovetail/src.hpp compiles each `x.ipp` once. Code that
// needs expensive headers is kept in such `.ipp` files.
#if defined(DOVETAIL_SEPARATE_COMPILATION)
#define DOVETAIL_INLINE
#else
#define DOVETAIL_INLINE inline
#endif

namespace dovetail {

// nvcc compiles a unit once for the host and once more for each device architecture. The device pass only generates the kernels that host
// functions launch, so host-only code can be left out of it as long as the same kernels are instantiated. No error is lost: the host pass
// reports it.
#if defined(__CUDA_ARCH__)
inline constexpr bool device_pass = true;
#else
inline constexpr bool device_pass = false;
#endif

}  // namespace dovetail
