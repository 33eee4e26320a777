// The kernels of gpt2.cpp: of the weights and values, of the masters and moments, of the tokens; attention by cuDNN.
#include <dovetail/ops/cuda/instances.hpp>

#if defined(WITH_CUDNN)
#include <dovetail/ops/cuda/cudnn_attention.hpp>
#endif

template struct dovetail::kernels_for<dovetail::bfloat16, float, std::int32_t>;
