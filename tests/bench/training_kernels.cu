// The kernels of training.cpp.
#include <dovetail/launch/cuda/commands/local_reduction.hpp>
#include <dovetail/ops/cuda/instances.hpp>

template struct dovetail::kernels_for<dovetail::bfloat16>;
