// The worlds in which an example runs, and what its plans assume of them: ranks as threads of the host with simulated links, or one GPU per
// rank if nvcc compiles the example (-x cu) and the command line has --gpu.
#pragma once

#include <dovetail/launch/host/world.hpp>
#if defined(__CUDACC__)
#include <dovetail/launch/cuda/world.hpp>
#endif

#include "words.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace worlds {

namespace dv = dovetail;

// The simulated links between ranks.
inline constexpr std::int64_t link_bandwidth = 2'000'000'000;
inline constexpr std::chrono::microseconds link_latency{50};
inline constexpr std::chrono::microseconds wake_up{70};  // overhead of a timer and of waking a thread

// Machine description: ranks that share two cores of a server.
template <int Ranks>
struct two_cores {
    static constexpr std::int64_t sharing = Ranks > 2 ? Ranks / 2 : 1;
    static constexpr dv::machine_description description{.name = "two_cores",
                                                         .half_flops = 20'000'000'000 / sharing,
                                                         .float_flops = 25'000'000'000 / sharing,
                                                         .double_flops = 12'000'000'000 / sharing,
                                                         .memory_bandwidth = 50'000'000'000 / sharing,
                                                         .launch_latency = 5'000'000,
                                                         .edge_latency = 20'000'000,
                                                         .link_latency = 1'000'000 * (link_latency + wake_up).count(),
                                                         .link_bandwidth = link_bandwidth,
                                                         .bus_bandwidth = link_bandwidth,
                                                         .host_bandwidth = 5'000'000'000};
};

struct host_threads {
    static constexpr bool on_gpus = false;
    dv::host::link link;
    // Whether there can be so many ranks.
    static bool has(int) { return true; }
    auto operator()(int ranks) const {
        const int cores = static_cast<int>(std::thread::hardware_concurrency());
        static bool said = false;
        if (ranks > cores && !std::exchange(said, true))
            std::printf("%d ranks share %d cores: they take longer than ranks with a core each\n", ranks, cores);
        return dv::host::world{ranks, link};
    }
};

#if defined(__CUDACC__)
struct gpus {
    static constexpr bool on_gpus = true;
    auto operator()(int ranks) const { return dv::cuda::world::local(ranks); }
    static bool has(int ranks) {
        int count = 0;
        return cudaGetDeviceCount(&count) == cudaSuccess && count >= ranks;
    }
};
#endif

// Reads the command line and calls `body` with a function that makes the world chosen there; an exception is printed and makes the program
// fail.
template <class Body>
int choose(int count, char** arguments, const words::command_line& taken, dv::host::link link, Body body) {
    try {
        [[maybe_unused]] const bool on_gpus = words::read(taken, count, arguments);
#if !defined(__CUDA_ARCH__)  // nvcc's pass for the device needs no graphs of host threads, and much memory to plan them
        if (!on_gpus) return body(host_threads{link});
#endif
#if defined(__CUDACC__)
        return body(gpus{});
#else
        throw std::runtime_error{std::string{arguments[0]} + " was compiled without CUDA: compile it with nvcc -x cu to run it on GPUs"};
#endif
    } catch (const std::exception& x) {
        std::fprintf(stderr, "%s\n", x.what());
        return EXIT_FAILURE;
    }
}

}  // namespace worlds
