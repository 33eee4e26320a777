// Every communication along an axis, for each element type that NCCL supports, on 1, 2 and 4 GPUs, compared with the host.
#include "gpu/compare.hpp"
#include "gpu/graphs.hpp"

namespace dv = dovetail;

namespace {
template <class T>
void all_widths(const char* what) {
    if (gpu::enough(1, what)) gpu::compare<gpu::every<T, 1>, samples::overlapped>(1, 1, what);
    if (gpu::enough(2, what)) gpu::compare<gpu::every<T, 2>, samples::overlapped>(2, 1, what);
    if (gpu::enough(4, what)) gpu::compare<gpu::every<T, 4>, samples::several>(4, 3, what);
}
}  // namespace

TEST_CASE("floating elements") {
    all_widths<dv::half>("half");
    all_widths<dv::bfloat16>("bfloat16");
    all_widths<float>("float");
    all_widths<double>("double");
}
TEST_CASE("integers") {
    all_widths<std::int8_t>("int8");
    all_widths<std::uint8_t>("uint8");
    all_widths<std::int32_t>("int32");
    all_widths<std::uint32_t>("uint32");
    all_widths<std::int64_t>("int64");
    all_widths<std::uint64_t>("uint64");
}
