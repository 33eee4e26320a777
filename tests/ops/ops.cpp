// The header ops/ops.hpp includes all operations.
#include <doctest/doctest.h>

#include <dovetail/ops/ops.hpp>

namespace {
using namespace dovetail::ops;
static_assert(std::is_empty_v<fill<dovetail::tensor<float, 2>>> && std::is_empty_v<copy> && std::is_empty_v<relu> &&
              std::is_empty_v<matmul> && std::is_empty_v<softmax_cross_entropy> && std::is_empty_v<sgd_momentum<9, 10>> &&
              std::is_empty_v<zeros>);
}  // namespace
