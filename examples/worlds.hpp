// The worlds in which an example runs: ranks as threads of the host with simulated links, or one GPU per rank if nvcc compiles the example
// (-x cu) and the command line has --gpu.
#pragma once

#include <dovetail/launch/host/world.hpp>
#if defined(__CUDACC__)
#include <dovetail/launch/cuda/world.hpp>
#endif

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace worlds {

namespace dv = dovetail;

struct host_threads {
    static constexpr bool on_gpus = false;
    dv::host::link link;
    auto operator()(int ranks) const { return dv::host::world{ranks, link}; }
};

#if defined(__CUDACC__)
struct gpus {
    static constexpr bool on_gpus = true;
    auto operator()(int ranks) const { return dv::cuda::world::local(ranks); }
};
#endif

inline bool wants_gpus(int count, char** arguments) { return count > 1 && std::strcmp(arguments[1], "--gpu") == 0; }

// Calls `body` with a function that makes the world chosen on the command line.
template <class Body>
int choose(int count, char** arguments, dv::host::link link, Body body) {
    if (!wants_gpus(count, arguments)) return body(host_threads{link});
#if defined(__CUDACC__)
    return body(gpus{});
#else
    std::fprintf(stderr, "%s was compiled without CUDA: compile it with nvcc -x cu to run it on GPUs\n", arguments[0]);
    return EXIT_FAILURE;
#endif
}

}  // namespace worlds
