// All operations that ship. Each is an empty type with a shape rule, facts and a launch per backend; the host loops are
// functions over pointers in ops/host/.
#pragma once

#include "elementwise.hpp"
#include "fill.hpp"
#include "gemm.hpp"
#include "initialise.hpp"
#include "loss.hpp"
#include "optimizer.hpp"
