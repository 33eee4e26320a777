// One rank of several processes, before it has a communicator: `join` performs the rendezvous (control/rendezvous.hpp) and checks that the
// ranks have different devices and the same version of NCCL.
#pragma once

#include "../../control/process_peers.hpp"
#include "../../control/rendezvous.hpp"
#include "../../log.hpp"
#include "../api/devices.hpp"

#include <cstring>

namespace dovetail::cuda {

// One rank of a world of processes: its identity, how it gets NCCL's id, and its channel to the other ranks.
struct membership {
    int rank = 0;
    int size = 1;
    int device = 0;
    std::function<ncclUniqueId(const nccl_options&)> id = {};  // the same on all ranks; an error if their options differ
    std::shared_ptr<launch::peers> channel = {};               // null: exchanges use NCCL itself
    std::chrono::nanoseconds limit = {};                       // until all ranks have joined
    // Whether the rank is held or runs (world::hold, world::run): once at a time, as the channel serves one.
    std::shared_ptr<std::atomic<bool>> in_use = std::make_shared<std::atomic<bool>>(false);
};

inline membership join(control::resolved_identity me, const control::rendezvous_options& options = {}) {
    const auto limit = options.limit.value_or(me.limit);
    if (me.verbose) launch::log(log_level::debug, me.describe());
    const std::shared_ptr<control::control_channel> channel = control::rendezvous(me, options);
    membership m{.rank = me.rank, .size = me.size, .device = me.local_rank};
    char bus[32] = {};
    std::string fault;
    try {
        const int there = detail::devices_here();
        if (there == 1) m.device = 0;  // launchers may make only the process's own device visible
        if (m.device >= there)
            throw world_error{"local rank " + std::to_string(me.local_rank) + " (" + me.local_rank_from + ") is to use device " +
                              std::to_string(m.device) + ", and this machine has " + std::to_string(there)};
        check(calls.device_bus_id(bus, sizeof bus, m.device), "cudaDeviceGetPCIBusId");
    } catch (const failure& e) {
        fault = e.text();
    }
    control::check_devices(*channel, bus, fault, limit);
    const int version = detail::nccl_version();
    channel->require_equal("the version of NCCL", static_cast<std::uint64_t>(version), detail::nccl_version_text(version), limit);
    if (me.verbose)
        launch::log(log_level::debug, "rank " + std::to_string(me.rank) + " of " + std::to_string(me.size) + " is here; device " +
                                          std::to_string(m.device) + " (" + bus + ")");
    m.channel = std::make_shared<control::process_peers>(channel);
    m.limit = limit;
    m.id = [channel, limit](const nccl_options& chosen) {
        const std::uint64_t both = static_cast<std::uint64_t>(chosen.min_ctas) << 32 | static_cast<std::uint32_t>(chosen.max_ctas);
        channel->require_equal("what the program says of NCCL's CTAs", both, chosen.text(), limit);
        ncclUniqueId id{};
        static_assert(sizeof id.internal == sizeof(control::id_bytes));
        const control::id_bytes bytes = control::share_id(
            *channel,
            [](control::id_bytes& made) {
                ncclUniqueId fresh{};
                check(calls.get_unique_id(&fresh), "ncclGetUniqueId");
                std::memcpy(made.data(), fresh.internal, made.size());
            },
            limit);
        std::memcpy(id.internal, bytes.data(), bytes.size());
        channel->barrier("the making of the communicators", limit);  // a rank that has failed before would be waited for in NCCL
        return id;
    };
    return m;
}

}  // namespace dovetail::cuda
