// Worlds of GPUs: the devices of their ranks, the communicators between them, and the threads of the ranks of this process.
#pragma once

#include "../world/cpu_affinity.hpp"
#include "../world/local_peers.hpp"
#include "../world/rank_threads.hpp"
#include "communicators/communicator_peers.hpp"
#include "communicators/init_communicator.hpp"
#include "communicators/membership.hpp"
#include "held_rank.ipp"
#include "rank.ipp"
#include "world.hpp"

namespace dovetail::cuda {

using control::broadcast_function;
using control::rank_identity;
using control::rendezvous_options;

DOVETAIL_INLINE world world::local(int ranks, std::vector<int> devices) {
    if (ranks < 1) throw world_error{"a world has at least one rank, not " + std::to_string(ranks)};
    const int there = detail::devices_here();
    if (devices.empty())
        for (int r = 0; r < ranks; ++r) devices.push_back(r);
    if (static_cast<int>(devices.size()) != ranks)
        throw world_error{std::to_string(devices.size()) + " devices are given for " + std::to_string(ranks) + " ranks"};
    for (std::size_t r = 0; r < devices.size(); ++r) {
        if (devices[r] < 0 || devices[r] >= there)
            throw world_error{"rank " + std::to_string(r) + " is to use device " + std::to_string(devices[r]) + ", and this machine has " +
                              std::to_string(there) + (there == 1 ? " device" : " devices")};
        for (std::size_t q = 0; q < r; ++q)
            if (devices[q] == devices[r])
                throw world_error{"ranks " + std::to_string(q) + " and " + std::to_string(r) + " are both to use device " +
                                  std::to_string(devices[r])};
    }
    world w;
    w.size_ = ranks;
    w.devices_ = std::move(devices);
    return w;
}

DOVETAIL_INLINE world world::from_environment(const control::rank_identity& given, const control::rendezvous_options& options) {
    return of(join(control::resolve_identity(given), options));
}
DOVETAIL_INLINE world world::from_broadcast(int rank, int size, control::broadcast_function broadcast,
                                            control::rendezvous_options options) {
    options.broadcast = std::move(broadcast);
    return from_environment({.rank = rank, .size = size}, options);
}
DOVETAIL_INLINE world world::adopt(ncclComm_t comm, int device) {
    detail::devices_here();
    membership m;
    int at = 0;
    try {
        check(calls.comm_count(comm, &m.size), "ncclCommCount");
        check(calls.comm_user_rank(comm, &m.rank), "ncclCommUserRank");
        check(calls.comm_device(comm, &at), "ncclCommCuDevice");
    } catch (const call_error& e) {
        throw world_error{"the communicator given is not usable: " + e.text()};
    }
    if (at != device) throw world_error{"the communicator given is on device " + std::to_string(at) + ", not " + std::to_string(device)};
    m.device = device;
    world w = of(std::move(m));
    w.adopted_ = comm;
    return w;
}

DOVETAIL_INLINE std::string world::links() const {
    return "GPUs; communication by NCCL " + detail::nccl_version_text(detail::nccl_version());
}

DOVETAIL_INLINE world world::of(membership m) {
    const int there = detail::devices_here();
    if (m.device < 0 || m.device >= there)
        throw world_error{"rank " + std::to_string(m.rank) + " is to use device " + std::to_string(m.device) + ", and this machine has " +
                          std::to_string(there)};
    if (m.size < 1 || m.rank < 0 || m.rank >= m.size)
        throw world_error{"rank " + std::to_string(m.rank) + " of a world of " + std::to_string(m.size)};
    world w;
    w.size_ = m.size;
    w.part_ = std::make_shared<const membership>(std::move(m));
    return w;
}

DOVETAIL_INLINE std::vector<ncclComm_t> world::connect() const {
    std::vector<ncclComm_t> comms(static_cast<std::size_t>(size_), nullptr);
    try {
        ncclUniqueId id{};
        ncclConfig_t config = detail::config_of(options_, false);
        check(calls.get_unique_id(&id), "ncclGetUniqueId");
        check(calls.group_start(), "ncclGroupStart");
        try {
            for (int r = 0; r < size_; ++r) {
                check(calls.set_device(devices_[r]), "cudaSetDevice");
                check(calls.comm_init_rank(&comms[r], size_, id, r, &config), "ncclCommInitRankConfig");
            }
        } catch (...) {
            static_cast<void>(calls.group_end());
            throw;
        }
        check(calls.group_end(), "ncclGroupEnd");
    } catch (const call_error& e) {
        for (const ncclComm_t c : comms)
            if (c != nullptr) static_cast<void>(calls.comm_abort(c));
        throw world_error{"the ranks of the world cannot be joined: " + e.text()};
    }
    return comms;
}

namespace detail {

inline std::optional<cpu_set_t> cpus_near_gpu(int index, int device) {
    char bus_id[32] = {};
    try {
        check(calls.device_bus_id(bus_id, sizeof bus_id, device), "cudaDeviceGetPCIBusId");
    } catch (const call_error& e) {
        throw call_error{"rank " + std::to_string(index) + " cannot find the CPUs near its GPU", e};
    }
    return launch::cpus_near(bus_id);
}

// Calls body on the rank whose context `make` returns; its exceptions are reported to the other ranks through `shared`.
template <class Make>
void play(const std::shared_ptr<launch::peers>& shared, int index, int device, const thread_options& threads,
          const launch::rank_body<rank>& body, launch::rank_exceptions& exceptions, const Make& make) {
    const auto placed = [&](rank& on) {
        const launch::cpu_affinity affinity{threads.near_gpu ? cpus_near_gpu(index, device) : std::nullopt};
        body(on);
    };
    exceptions.run_rank(index, [&] { return cuda::rank{make()}; }, placed, [&](const launch::abort_reason& why) { shared->abort(why); });
    shared->leave(index);
}

}  // namespace detail

DOVETAIL_INLINE void world::run_on_ranks(launch::rank_body<rank> body) {
    launch::rank_exceptions exceptions;
    const std::shared_ptr<launch::peers> among = part_ ? run_part(body, exceptions) : run_threads(body, exceptions);
    exceptions.rethrow(*among);
    among->raise_unreported(part_ ? part_->rank : 0);
}

DOVETAIL_INLINE std::shared_ptr<launch::peers> world::run_threads(const launch::rank_body<rank>& body,
                                                                  launch::rank_exceptions& exceptions) {
    const std::shared_ptr<launch::peers> shared = std::make_shared<launch::local_peers>(size_);
    const std::vector<ncclComm_t> comms = connect();
    const auto context_of = [&, this](int r) { return std::make_shared<context>(shared, r, size_, devices_[r], comms[r], options_); };
    launch::on_threads(
        size_, [&, this](int r) { detail::play(shared, r, devices_[r], threads_, body, exceptions, [&] { return context_of(r); }); },
        [&](int r, const std::exception_ptr& why) {
            shared->abort(exceptions.record(r, why));
            shared->leave(r);
            static_cast<void>(calls.comm_abort(comms[r]));
        });
    return shared;
}

DOVETAIL_INLINE std::shared_ptr<launch::peers> world::peers_of_part() const {
    if (part_->channel) return part_->channel;
    return std::make_shared<detail::communicator_peers>(part_->rank, part_->size);
}
// Joins the rank of this process to the others.
DOVETAIL_INLINE std::shared_ptr<context> world::context_of_part(const std::shared_ptr<launch::peers>& shared) const {
    const membership& m = *part_;
    ncclComm_t all = nullptr;
    try {
        check(calls.set_device(m.device), "cudaSetDevice");
        ncclConfig_t config = detail::config_of(options_, false);
        if (adopted_ != nullptr)
            check(calls.comm_split(adopted_, 0, m.rank, &all, options_.given() ? &config : nullptr), "ncclCommSplit");
        else
            all = detail::init_communicator(*shared, m.rank, m.size, m.device, m.id(options_), config, m.limit);
    } catch (const call_error& e) {
        throw world_error{"rank " + std::to_string(m.rank) + " cannot join the world: " + e.text()};
    }
    auto made = std::make_shared<context>(shared, m.rank, m.size, m.device, all, options_);
    if (!m.channel) static_cast<detail::communicator_peers&>(*shared).use(made.get());
    return made;
}
// The rank of this process is used once at a time, as its channel to the others serves one watchdog; until what is returned is destroyed.
DOVETAIL_INLINE std::shared_ptr<void> world::use_part(const char* by) const {
    if (part_->in_use->exchange(true))
        throw world_error{"rank " + std::to_string(part_->rank) + " is held or runs, and `" + by + "` would use it: end it first"};
    return {part_->in_use.get(), [in_use = part_->in_use](void*) { in_use->store(false); }};
}
DOVETAIL_INLINE std::shared_ptr<launch::peers> world::run_part(const launch::rank_body<rank>& body, launch::rank_exceptions& exceptions) {
    const std::shared_ptr<void> use = use_part("run");
    const std::shared_ptr<launch::peers> shared = peers_of_part();
    detail::play(shared, part_->rank, part_->device, threads_, body, exceptions, [&, this] { return context_of_part(shared); });
    return shared;
}
DOVETAIL_INLINE held_rank world::hold() const {
    if (!part_)
        throw world_error{"the ranks of this world are " + std::to_string(size_) +
                          " threads of this process, which `run` calls; a rank is held in a world of processes"};
    const std::shared_ptr<void> use = use_part("hold");
    const std::shared_ptr<launch::peers> shared = peers_of_part();
    try {
        return {shared, std::make_unique<rank>(context_of_part(shared)), use};
    } catch (...) {
        shared->abort(launch::rank_exceptions{}.record(part_->rank, std::current_exception()));
        shared->leave(part_->rank);
        throw;
    }
}

}  // namespace dovetail::cuda
