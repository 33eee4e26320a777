// A world of GPUs. world::local(n): one process with a thread for each GPU. world::from_environment(): one rank of several processes,
// started by torchrun, mpirun, srun or any program that sets the DOVETAIL_* variables. world::from_broadcast(...): the same for programs
// that know their rank. world::adopt(comm, device): the caller's communicator and device. `run` calls a function on every rank of this
// process.
// Before the first CUDA call of the program, a world requests eager loading of kernels (CUDA_MODULE_LOADING=EAGER, unless it is set):
// loading a kernel at its first launch may wait for NCCL kernels, which wait for a peer.
#pragma once

#include "../world/rank_body.hpp"
#include "../world/world_options.hpp"
#include "held_rank.hpp"
#include "rank.hpp"

#include <concepts>
#include <memory>
#include <string>
#include <vector>

struct ncclComm;  // ncclComm_t of nccl.h points to it

namespace dovetail::launch {
class peers;
class rank_exceptions;
}  // namespace dovetail::launch

namespace dovetail::cuda {

using control::broadcast_function;
using control::rank_identity;
using control::rendezvous_options;

class context;
struct membership;

// Ranks that are GPUs of this process, or one of several processes.
class world {
public:
    // n ranks as threads of this process, rank r on device r, or on the devices given.
    static world local(int ranks, std::vector<int> devices = {});
    // This process is one rank. Its identity comes from `given`, else from the variables DOVETAIL_*, then those of torchrun, Open MPI and
    // PMI, Slurm; DOVETAIL_VERBOSE=1 prints where it was found. On several machines the ranks need one job key.
    static world from_environment(const control::rank_identity& given = {}, const control::rendezvous_options& options = {});
    // The same for a process that knows its rank and has its own broadcast, such as MPI's.
    static world from_broadcast(int rank, int size, control::broadcast_function broadcast, control::rendezvous_options options = {});
    // Uses the caller's communicator and the device on which it was made. The library works on a communicator split from it. The caller's
    // own is not used; order work on it by `enqueue`.
    static world adopt(ncclComm* comm, int device);

    // Sets options of all communicators of the ranks; called before `run`.
    world& with(const nccl_options& options) {
        options.check();
        options_ = options;
        return *this;
    }

    world& with(const thread_options& options) {
        threads_ = options;
        return *this;
    }

    int size() const { return size_; }
    std::string links() const;

    // The rank of this process, for as long as the object that is returned exists: for code that is called now and then. The threads that
    // use it stay on the CPUs where they are. world_error if the ranks are threads of this process, which `run` calls.
    held_rank hold() const;

    // Calls body(rank) for every rank of this process and waits for all of them. Throws the first exception that left body on a rank;
    // exceptions of ranks that only noticed that failure are dropped. If there is no other, or none left body, throws the error of a run
    // that no exception has reported because its ticket was dropped. Afterwards the current device of the calling thread is that of a rank.
    template <class Body>
        requires std::invocable<Body&, rank&>
    void run(Body&& body) {
        const auto call = [&body](rank& on) { body(on); };
        run_on_ranks(launch::rank_body<rank>{call});
    }

private:
    world() = default;

    static world of(membership m);
    // One thread makes all communicators in one NCCL group, so that a device that fails leaves no rank waiting.
    std::vector<ncclComm*> connect() const;
    void run_on_ranks(launch::rank_body<rank> body);
    std::shared_ptr<launch::peers> run_threads(const launch::rank_body<rank>& body, launch::rank_exceptions& exceptions);
    std::shared_ptr<void> use_part(const char* by) const;
    std::shared_ptr<launch::peers> run_part(const launch::rank_body<rank>& body, launch::rank_exceptions& exceptions);
    std::shared_ptr<launch::peers> peers_of_part() const;
    std::shared_ptr<context> context_of_part(const std::shared_ptr<launch::peers>& shared) const;

    int size_ = 1;
    std::vector<int> devices_;
    std::shared_ptr<const membership> part_;  // null: all ranks are threads of this process
    ncclComm* adopted_ = nullptr;
    nccl_options options_;
    thread_options threads_;
};

}  // namespace dovetail::cuda

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "world.ipp"
#endif
