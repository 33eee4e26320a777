// The first communicator of a rank among processes. NCCL waits without a limit for all its ranks, also for one that has ended, so the call
// is on a thread of its own, and the rank waits for that thread.
#pragma once

#include "../../world/peers.hpp"
#include "../api/api.hpp"

#include <atomic>
#include <future>
#include <thread>

namespace dovetail::cuda::detail {

// The communicator of all ranks, on rank `rank`, whose peers are `among`. Throws call_error; the error that ended the work of the ranks; or
// timeout after `limit`. A call from which NCCL does not return stays on its thread until the process ends.
inline ncclComm_t init_communicator(const launch::peers& among, int rank, int size, int device, const ncclUniqueId& id, ncclConfig_t config,
                                    std::chrono::nanoseconds limit) {
    struct init_call {
        std::promise<ncclComm_t> made;
        std::atomic<bool> decided = false;  // the call has returned, or the rank has given up: whichever comes first
    };
    const auto call = std::make_shared<init_call>();
    std::thread{[=]() mutable {
        ncclComm_t made = nullptr;
        try {
            check(calls.set_device(device), "cudaSetDevice");
            check(calls.comm_init_rank(&made, size, id, rank, &config), "ncclCommInitRankConfig");
        } catch (...) {
            return call->made.set_exception(std::current_exception());
        }
        if (!call->decided.exchange(true)) return call->made.set_value(made);
        static_cast<void>(calls.comm_abort(made));
    }}.detach();

    std::future<ncclComm_t> made = call->made.get_future();
    const deadline until = launch::after(limit);
    while (made.wait_for(std::chrono::milliseconds{10}) != std::future_status::ready) {
        const bool late = std::chrono::steady_clock::now() >= until;
        if (!(among.aborted() || late) || call->decided.exchange(true)) continue;
        const std::string waits = "waits for all ranks in ncclCommInitRankConfig";
        if (among.aborted()) among.raise(rank, {waits, {}, {}});
        throw timeout{"timeout after " + launch::in_seconds(limit) + ": rank " + std::to_string(rank) + " " + waits, rank};
    }
    return made.get();
}

}  // namespace dovetail::cuda::detail
