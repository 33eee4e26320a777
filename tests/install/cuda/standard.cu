// Says whether the standard is the one that dovetail needs, and no less than the one asked for.
#include <dovetail/core/config.hpp>

__global__ void kernel() {}
