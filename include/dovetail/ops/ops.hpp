// All operations that ship. Each is an empty type with a shape rule, facts and a launch per backend; the host loops are
// functions over pointers in ops/host/, the kernels in ops/cuda/. A graph that a .cpp holds finds the kernels in a .cu of the
// same program, see cuda/instances.hpp.
#pragma once

#include "elementwise.hpp"
#include "fill.hpp"
#include "gemm.hpp"
#include "initialise.hpp"
#include "loss.hpp"
#include "optimizer.hpp"
