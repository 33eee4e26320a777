// The unit that includes the source for worlds of GPUs.
#include <dovetail/launch/cuda/src.hpp>
