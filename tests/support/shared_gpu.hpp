// Several ranks on one real GPU, each a process, for what copy engines move: streams, stream memory operations, copies between processes,
// kernels and CUDA graphs are real. NCCL refuses two ranks on a GPU: its communicators are empty, and a call that moves data fails.
// (Threads of one process would share the hardware queues of the GPU: a stream that waits for a partner could stand before the partner's.)
#pragma once

#include "processes.hpp"

#include <dovetail/launch/cuda/api/api.hpp>
#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/executor.hpp>

#include <cstdlib>

namespace support {

namespace dv = dovetail;

namespace detail {

struct empty_communicator {
    int ranks = 1, rank = 0;
};
inline empty_communicator& of(ncclComm_t c) { return *reinterpret_cast<empty_communicator*>(c); }
inline ncclComm_t make_communicator(int ranks, int rank) { return reinterpret_cast<ncclComm_t>(new empty_communicator{ranks, rank}); }
inline ncclResult_t end_communicator(ncclComm_t c) {
    delete &of(c);
    return ncclSuccess;
}

inline void empty_communicators(dv::cuda::api& t) {
    t.comm_init_rank = [](ncclComm_t* c, int n, ncclUniqueId, int r, ncclConfig_t*) { *c = make_communicator(n, r); return ncclSuccess; };
    t.comm_split = [](ncclComm_t c, int, int, ncclComm_t* made, ncclConfig_t*) {
        *made = make_communicator(of(c).ranks, of(c).rank);
        return ncclSuccess;
    };
    t.comm_destroy = &end_communicator;
    t.comm_abort = &end_communicator;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 9)
    t.comm_revoke = [](auto...) { return ncclSuccess; };
#endif
    t.comm_register = [](auto...) { return ncclSuccess; };
    t.comm_deregister = [](auto...) { return ncclSuccess; };
    t.comm_get_async_error = [](ncclComm_t, ncclResult_t* e) { *e = ncclSuccess; return ncclSuccess; };
    t.comm_count = [](const ncclComm_t c, int* n) { *n = of(c).ranks; return ncclSuccess; };
    t.comm_user_rank = [](const ncclComm_t c, int* r) { *r = of(c).rank; return ncclSuccess; };
    t.comm_device = [](const ncclComm_t c, int* d) { *d = of(c).rank; return ncclSuccess; };
    t.send = [](auto...) { return ncclInternalError; };
    t.recv = [](auto...) { return ncclInternalError; };
    t.all_reduce = [](auto...) { return ncclInternalError; };
    t.reduce = [](auto...) { return ncclInternalError; };
    t.broadcast = [](auto...) { return ncclInternalError; };
    t.all_gather = [](auto...) { return ncclInternalError; };
    t.reduce_scatter = [](auto...) { return ncclInternalError; };
}

inline void share_first_gpu() {
    dv::cuda::api& t = dv::cuda::calls;
    t.get_device_count = [](int* n) { *n = 8; return cudaSuccess; };
    t.device_bus_id = [](char* to, int, int device) { std::snprintf(to, 16, "shared %d", device); return cudaSuccess; };
    t.set_device = [](int) { return cudaSetDevice(0); };
    t.can_access_peer = [](int* can, int, int) { *can = 1; return cudaSuccess; };
    t.enable_peer_access = [](int, unsigned) { return cudaSuccess; };
    empty_communicators(t);
}

}  // namespace detail

// Runs body(rank) in a process for each rank; returns what each body returned, or "threw: ...". The calling process has not used CUDA.
template <class Body>
std::vector<std::string> on_shared_gpu(int ranks, std::chrono::seconds limit, Body body) {
    processes all;
    const std::string port = std::to_string(20000 + ::getpid() % 20000), key = "shared";
    for (int r = 0; r < ranks; ++r)
        all.start([=] {
            const auto set = [](const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); };
            set("DOVETAIL_RANK", std::to_string(r));
            set("DOVETAIL_WORLD_SIZE", std::to_string(ranks));
            set("DOVETAIL_LOCAL_RANK", std::to_string(r));
            set("DOVETAIL_RENDEZVOUS", "127.0.0.1:" + port);
            detail::share_first_gpu();
            std::string said;
            dv::cuda::world::from_environment().run([&](auto& rank) { said = body(rank); });
            return said;
        });
    return all.ends(limit);
}

}  // namespace support
