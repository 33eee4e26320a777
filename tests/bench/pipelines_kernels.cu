// The kernels of pipelines.cpp.
#include <dovetail/launch/cuda/progress/progress_word.hpp>
#include <dovetail/ops/cuda/instances.hpp>

template struct dovetail::kernels_for<dovetail::half>;
