// Functions of real numbers for the host and for GPUs. On the host by builtins: `<cmath>` would cost more compile time than a
// small graph.
#pragma once

#include "facts.hpp"

#if defined(__CUDA_ARCH__)
#define DOVETAIL_REAL_FUNCTION(function) ::function
#else
#define DOVETAIL_REAL_FUNCTION(function) __builtin_##function
#endif

namespace dovetail::ops_detail {

DOVETAIL_HOST_DEVICE inline float exponential(float x) { return DOVETAIL_REAL_FUNCTION(expf)(x); }
DOVETAIL_HOST_DEVICE inline double exponential(double x) { return DOVETAIL_REAL_FUNCTION(exp)(x); }
DOVETAIL_HOST_DEVICE inline float logarithm(float x) { return DOVETAIL_REAL_FUNCTION(logf)(x); }
DOVETAIL_HOST_DEVICE inline double logarithm(double x) { return DOVETAIL_REAL_FUNCTION(log)(x); }
DOVETAIL_HOST_DEVICE inline float square_root(float x) { return DOVETAIL_REAL_FUNCTION(sqrtf)(x); }
DOVETAIL_HOST_DEVICE inline double square_root(double x) { return DOVETAIL_REAL_FUNCTION(sqrt)(x); }
DOVETAIL_HOST_DEVICE inline float error_function(float x) { return DOVETAIL_REAL_FUNCTION(erff)(x); }
DOVETAIL_HOST_DEVICE inline double error_function(double x) { return DOVETAIL_REAL_FUNCTION(erf)(x); }
DOVETAIL_HOST_DEVICE inline double power(double base, double exponent) { return DOVETAIL_REAL_FUNCTION(pow)(base, exponent); }

}  // namespace dovetail::ops_detail

#undef DOVETAIL_REAL_FUNCTION
