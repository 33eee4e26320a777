// Compiles only with the C++ standard that dovetail needs, which dovetail/core/config.hpp checks.
#include <dovetail/core/config.hpp>

__global__ void kernel() {}
