// All shipped operations. Each is an empty type with a shape rule, facts, and a launch per backend. The host loops are functions over
// pointers in ops/host/, the kernels are in ops/cuda/. A graph in a .cpp file uses kernels that a .cu file of the same program
// instantiates: see cuda/instances.hpp.
#pragma once

#include "attention.hpp"
#include "cache.hpp"
#include "elementwise.hpp"
#include "embedding.hpp"
#include "fill.hpp"
#include "gelu.hpp"
#include "gemm.hpp"
#include "initialise.hpp"
#include "layer_norm.hpp"
#include "loss.hpp"
#include "optimizer.hpp"
#include "softmax.hpp"
#include "transpose.hpp"
