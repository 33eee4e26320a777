// The definitions that worlds of GPUs need besides dovetail/src.hpp, for separate compilation. nvcc and the host compiler both accept it;
// compiled by nvcc it also contains the kernels of the launch layer, which reductions by copy engines and of single-rank graphs, and
// dv::check_finite need.
#pragma once

#include "../../core/config.hpp"

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#error "dovetail/launch/cuda/src.hpp: define DOVETAIL_SEPARATE_COMPILATION for this and all other units, or leave this header out"
#endif

#include "held_rank.ipp"
#include "rank.ipp"
#include "world.ipp"
