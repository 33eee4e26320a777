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
