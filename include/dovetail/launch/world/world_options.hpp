// Options of a world of GPUs: the identity of this process among several, their rendezvous, the number of SMs that NCCL may use, and the
// CPUs of the threads of ranks.
#pragma once

#include "../error.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace dovetail::control {

// The values that a program may give; values that it does not give are looked up.
struct rank_identity {
    std::optional<int> rank = {};
    std::optional<int> size = {};
    std::optional<int> local_rank = {};
    std::string rendezvous = {};  // host:port or [address]:port
    std::string job = {};
    std::string job_key = {};  // hexadecimal digits
    std::string listen = {};   // a name or address
};

// The intervals of the control channel.
struct control_timing {
    std::chrono::nanoseconds period = std::chrono::milliseconds{200};  // between heartbeats
    std::chrono::nanoseconds silence = std::chrono::seconds{20};       // a rank without a heartbeat for this time is lost; 0: never
    std::chrono::nanoseconds linger = std::chrono::seconds{2};         // how long rank 0 waits at its end until the other ranks have ended
};

// Broadcasts the bytes of `root` to all ranks:
//   [](void* bytes, std::size_t n, int root) { MPI_Bcast(bytes, static_cast<int>(n), MPI_BYTE, root, MPI_COMM_WORLD); }
using broadcast_function = std::function<void(void* bytes, std::size_t n, int root)>;

struct rendezvous_options {
    broadcast_function broadcast = {};                   // if empty, rank 0 is found at the address of resolved_identity
    std::optional<std::chrono::nanoseconds> limit = {};  // until all ranks have joined; default: resolved_identity.limit
    control_timing timing = {};
};

}  // namespace dovetail::control

namespace dovetail::cuda {

using control::broadcast_function;
using control::rank_identity;
using control::rendezvous_options;

// Options of NCCL for a world, the same on all ranks. A CTA of NCCL occupies one SM from its start to its end, also while it waits for its
// peer: with fewer CTAs, concurrent operations get more SMs, and communication is slower. On 4 x H200 an all_reduce of 128 MiB takes
// 0.62 ms with NCCL's default or 24 CTAs, 0.68 with 16, 0.80 with 12, 1.07 with 8, 2.06 with 4.
struct nccl_options {
    int min_ctas = 0;  // 0: NCCL's default
    int max_ctas = 0;

    bool given() const { return min_ctas != 0 || max_ctas != 0; }
    std::string text() const {
        const auto number = [](int ctas) { return ctas == 0 ? std::string{"NCCL's default"} : std::to_string(ctas); };
        return "at least " + number(min_ctas) + ", at most " + number(max_ctas);
    }
    void check() const {
        if (min_ctas < 0 || max_ctas < 0 || (max_ctas > 0 && min_ctas > max_ctas))
            throw world_error{"NCCL cannot use at least " + std::to_string(min_ctas) + " and at most " + std::to_string(max_ctas) +
                              " CTAs"};
    }
};

// Options of the threads on which a world calls the ranks of this process.
struct thread_options {
    // Whether they keep to the CPUs near their GPU, of those that they may use; so do the threads that they start, and the memory that they
    // pin lies there. The thread of a process with one rank is free again when `run` returns.
    bool near_gpu = true;
};

}  // namespace dovetail::cuda
