// The same for worlds of GPUs.
#include <dovetail/launch/cuda/src.hpp>
