// The kernels of training.cpp.
#include <dovetail/ops/cuda/instances.hpp>

template struct dovetail::ops::kernels_for<dovetail::bfloat16>;
