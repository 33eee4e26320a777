// The kernels of training.cpp.
#include <dovetail/ops/cuda/instances.hpp>

template struct dovetail::kernels_for<dovetail::bfloat16>;
