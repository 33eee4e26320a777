// What worlds of GPUs need beside dovetail/src.hpp, compiled once. nvcc and the host compiler both take it; compiled by nvcc it also holds
// the kernels of the launch layer, which only single-rank graphs with a reduction need.
#pragma once

#include "../../core/config.hpp"

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#error "dovetail/launch/cuda/src.hpp: define DOVETAIL_SEPARATE_COMPILATION for this and all other units of the program, or leave this header out"
#endif

#include "rank.ipp"
#include "world.ipp"
