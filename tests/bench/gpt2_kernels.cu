// The kernels of gpt2.cpp: of the weights and values, of the masters and moments, of the tokens.
#include <dovetail/ops/cuda/instances.hpp>

template struct dovetail::kernels_for<dovetail::bfloat16, float, std::int32_t>;
