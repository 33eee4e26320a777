// A graph on the host and on GPUs, on streams and replayed, with one run or several in flight: the same bytes.
#pragma once

#include "support/exercise.hpp"
#include "support/samples.hpp"

#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/host/world.hpp>

#include <doctest/doctest.h>

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

template <class G, class O>
void compare(int ranks, int ahead, const char* what) {
    constexpr int runs = 5;
    using result = std::vector<support::outputs>;
    result wanted(static_cast<std::size_t>(ranks)), streams = wanted, replayed = wanted;
    dv::host::world{ranks}.run([&](auto& rank) { wanted[static_cast<std::size_t>(rank.index())] = support::exercise<G, O>(rank, runs, ahead); });
    dv::cuda::world::local(ranks).run([&](auto& rank) {
        streams[static_cast<std::size_t>(rank.index())] = support::exercise<G, O>(rank, runs, ahead);
        replayed[static_cast<std::size_t>(rank.index())] = support::exercise<G, O>(rank, runs, ahead, dv::replay);
    });
    CAPTURE(what);
    CHECK(streams == wanted);
    CHECK(replayed == wanted);
}
template <class G>
void compare_all(int ranks, const char* what) {
    if (!enough(ranks, what)) return;
    compare<G, samples::sequential>(ranks, 1, what);
    compare<G, samples::overlapped>(ranks, 1, what);
    compare<G, samples::several>(ranks, 3, what);
}

}  // namespace gpu
