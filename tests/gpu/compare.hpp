// Runs graphs on the GPUs of one process and on the host: the results have the same bytes. Prints which graphs are skipped if there are
// too few GPUs.
#pragma once

#include "support/compare.hpp"

#include <dovetail/launch/cuda/world.hpp>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace gpu {

namespace dv = dovetail;

// The GPUs of this machine. A driver that fails where there is a GPU is an error: the tests would be skipped without a word.
inline int devices() {
    int n = 0;
    const cudaError_t status = cudaGetDeviceCount(&n);
    if (status == cudaSuccess) return n;
    const bool none = status == cudaErrorNoDevice || (status == cudaErrorInsufficientDriver && !std::filesystem::exists("/dev/nvidia0"));
    if (!none) throw std::runtime_error{std::string{"cudaGetDeviceCount: "} + cudaGetErrorString(status)};
    return 0;
}
// False, and says so, where this machine has too few.
inline bool enough(int ranks, const std::string& what) {
    if (devices() >= ranks) return true;
    MESSAGE(what << " needs " << ranks << " GPUs: skipped");
    return false;
}

inline constexpr auto on_gpus = [](int ranks, const auto& body) { dv::cuda::world::local(ranks).run(body); };
template <class G, class O>
void compare(int ranks, int ahead, const std::string& what) {
    support::compare<G, O>(ranks, ahead, what, on_gpus);
}
template <class G>
void compare_all(int ranks, const std::string& what) {
    if (enough(ranks, what)) support::compare_all<G>(ranks, what, on_gpus);
}

}  // namespace gpu
