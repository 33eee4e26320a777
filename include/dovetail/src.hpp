// What is neither a template nor a constant, compiled once: for one unit of a program all of whose units define
// DOVETAIL_SEPARATE_COMPILATION (core/config.hpp). A program that has a dovetail::cuda::world includes dovetail/launch/cuda/src.hpp too, in
// the same unit or in another one; this header needs neither CUDA nor NCCL.
#pragma once

#include "core/config.hpp"

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#error "dovetail/src.hpp: define DOVETAIL_SEPARATE_COMPILATION for this and all other units of the program, or leave this header out"
#endif

#include "launch/basic_executor.ipp"
#include "launch/host/world.ipp"
#include "launch/linkage.ipp"
#include "launch/store.ipp"
#include "launch/ticket.ipp"
#include "launch/world/rank_roles.ipp"
#include "launch/world/thread_number.ipp"
