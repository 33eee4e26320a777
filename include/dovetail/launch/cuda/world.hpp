// A world of GPUs. world::local(n): one process, a thread for each GPU; world::from_environment(): one rank of several processes,
// started by torchrun, mpirun, srun or anything that sets our own variables; world::from_broadcast(...): the same for programs
// that know their rank; world::adopt(comm, device): the caller's communicator and device. `run` calls a function on every rank
// that this process plays.
// Before the first CUDA call of the program, a world asks for eager loading of kernels (CUDA_MODULE_LOADING=EAGER, unless it
// is set): a kernel that is loaded at its first launch may wait for NCCL's, which wait for a peer.
#pragma once

#include "../rank_body.hpp"
#include "../world/world_options.hpp"
#include "rank.hpp"

#include <concepts>
#include <memory>
#include <string>
#include <vector>

struct ncclComm;  // ncclComm_t of nccl.h points to it

namespace dovetail::launch {
class rank_exceptions;
}

namespace dovetail::cuda {

using control::broadcast_function;
using control::rank_identity;
using control::rendezvous_options;

class peers;
struct membership;

class world {
public:
    // n ranks as threads of this process, rank r on device r, or on the devices given.
    static world local(int ranks, std::vector<int> devices = {});
    // This process plays one rank. Who it is: what `given` says, else DOVETAIL_*, torchrun's, Open MPI's and PMI's, Slurm's
    // variables, in this order; DOVETAIL_VERBOSE=1 prints how it was found. On several machines the ranks need one job key.
    static world from_environment(const control::rank_identity& given = {}, const control::rendezvous_options& options = {});
    // The same for a process that knows its rank and has a broadcast of its own, such as MPI's.
    static world from_broadcast(int rank, int size, control::broadcast_function broadcast, control::rendezvous_options options = {});
    // The caller's communicator and the device it was made on. The library works on a communicator split from it; the caller's
    // own is left as it is, and work on it must be ordered by `enqueue`.
    static world adopt(ncclComm* comm, int device);

    // For all communicators of the ranks, before `run`.
    world& with(const nccl_options& options) {
        options.check();
        options_ = options;
        return *this;
    }

    int size() const { return size_; }
    std::string links() const;

    // Calls body(rank) for every rank of this process and waits for all of them. Throws the first exception that a rank left
    // with; the ranks that fail only because of it end with an exception of their own, which is not shown. Where no rank left with
    // one, throws what ended a run of which the program was not told: its ticket was dropped.
    template <class Body>
        requires std::invocable<Body&, rank&>
    void run(Body&& body) {
        const auto call = [&body](rank& on) { body(on); };
        run_on_ranks(launch::rank_body<rank>{call});
    }

private:
    world() = default;

    static world of(membership m);
    // All communicators are made by one thread in one group, so that a device that fails leaves nobody waiting.
    std::vector<ncclComm*> connect() const;
    void run_on_ranks(launch::rank_body<rank> body);
    std::shared_ptr<launch::peers> run_threads(const launch::rank_body<rank>& body, launch::rank_exceptions& exceptions);
    std::shared_ptr<launch::peers> run_part(const launch::rank_body<rank>& body, launch::rank_exceptions& exceptions);

    int size_ = 1;
    std::vector<int> devices_;
    std::shared_ptr<const membership> part_;  // null: all ranks are threads of this process
    ncclComm* adopted_ = nullptr;
    nccl_options options_;
};

}  // namespace dovetail::cuda

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "world.ipp"
#endif
