// Runs graphs on the GPUs of one process and on the host: the results have the same bytes. Prints which graphs are skipped if there are
// too few GPUs.
#pragma once

#include "support/compare.hpp"

#include <dovetail/launch/cuda/world.hpp>

namespace gpu {

namespace dv = dovetail;

inline int devices() {
    int n = 0;
    return cudaGetDeviceCount(&n) == cudaSuccess ? n : 0;
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
