// One rank a process: `join` meets the other processes (rendezvous.hpp) and gives what world::of needs; `from_environment`
// first finds out who this process is. The control channel becomes the `peers` of the engines.
#pragma once

#include "world.hpp"

#include "rendezvous.hpp"

#include <cstdio>

namespace dovetail::cuda {

// What the ranks of several processes share, over the control channel.
class process_peers final : public peers {
public:
    explicit process_peers(std::shared_ptr<control> channel) : channel_{std::move(channel)} {}
    ~process_peers() override { channel_->unwatch(std::chrono::seconds{5}); }

    const std::shared_ptr<control>& channel() const { return channel_; }
    // Calls once, on a thread of the channel's, when the work of all ranks has ended: for what blocks the rank's own threads.
    void at_stop(std::function<void()> call) {
        if (call)
            channel_->watch([call = std::move(call)](const stop_cause&) { call(); });
        else
            channel_->unwatch(std::chrono::seconds{5});
    }

    int size() const override { return channel_->size(); }
    std::vector<std::string> exchange(int, const std::string& what, const std::string& mine, std::chrono::nanoseconds limit) override {
        return channel_->exchange(what, mine, limit);
    }
    void abort(const cause& why) override {
        {
            const std::lock_guard lock{mutex_};
            if (why.what && !own_) own_ = why.what;
        }
        channel_->abort({why.rank, why.text, why.operation, why.statement, why.by_leaving});
    }
    bool aborted() const noexcept override { return channel_->aborted(); }
    cause why() const override {
        const auto c = channel_->why();
        if (!c) return {};
        const std::lock_guard lock{mutex_};
        return {c->rank, c->text, c->operation, c->statement, c->rank == channel_->rank() ? own_ : nullptr, c->by_leaving};
    }
    void leave(int) noexcept override { channel_->leave(); }
    bool gone(int rank) const noexcept override { return channel_->left(rank); }
    void watch(int, std::shared_ptr<const progress> p) override {
        if (!p) return channel_->announce(std::function<std::string()>{});
        // Steps of different roles do not compare, runs do.
        channel_->announce([p, to = channel_.get()] {
            to->announce(mark{p->ended.load() + 1, -1});
            return p->text();
        });
    }
    std::string describe() const override { return channel_->progress(); }
    // Rank 0 compares behind the scenes; a difference comes as an abort.
    std::string in_order(int, std::int64_t, int executor, const std::string&) override {
        channel_->called(executor);
        return {};
    }

private:
    const std::shared_ptr<control> channel_;
    mutable std::mutex mutex_;
    std::exception_ptr own_;  // what the cause was on this rank
};

// How a device is told from others of its host; replaceable as the table of calls is.
inline cudaError_t (*device_bus_id)(char*, int, int) = &::cudaDeviceGetPCIBusId;

// Meets the others, and checks that they have devices of their own and one version of NCCL.
inline membership join(place me, const meeting_options& options = {}) {
    const auto limit = options.limit.value_or(me.limit);
    const std::shared_ptr<control> channel = meet(me, options);
    membership m{.rank = me.rank, .size = me.size, .device = me.local_rank};
    char bus[32] = {};
    std::string fault;
    try {
        const int there = detail::devices_here();
        if (there == 1) m.device = 0;  // launchers may show each process only its own
        if (m.device >= there)
            throw world_error{"local rank " + std::to_string(me.local_rank) + " (" + me.local_rank_from + ") is to use device " + std::to_string(m.device) +
                              ", and this machine has " + std::to_string(there)};
        check(device_bus_id(bus, sizeof bus, m.device), "cudaDeviceGetPCIBusId");
    } catch (const failure& e) {
        fault = std::string{e.what()}.substr(std::string_view{"dovetail: "}.size());
    }
    check_devices(*channel, bus, fault, limit);
    int version = 0;
    check(calls.get_version(&version), "ncclGetVersion");
    channel->agree("the version of NCCL", static_cast<std::uint64_t>(version), detail::nccl_version_text(version), limit);
    if (me.verbose) std::fprintf(stderr, "dovetail: %s; device %d (%s)\n", me.describe().c_str(), m.device, bus);
    m.control = std::make_shared<process_peers>(channel);
    m.id = [channel, limit] {
        ncclUniqueId id{};
        static_assert(sizeof id.internal == sizeof(id_bytes));
        const id_bytes bytes = share_id(
            *channel,
            [](id_bytes& made) {
                ncclUniqueId fresh{};
                check(calls.get_unique_id(&fresh), "ncclGetUniqueId");
                std::memcpy(made.data(), fresh.internal, made.size());
            },
            limit);
        std::memcpy(id.internal, bytes.data(), bytes.size());
        return id;
    };
    return m;
}

// `auto world = cuda::world::of(cuda::from_environment());` under torchrun, mpirun or srun.
inline membership from_environment(const place_arguments& given = {}, const meeting_options& options = {}) { return join(find_place(given), options); }

// For programs whose processes know their ranks and have a broadcast of their own, such as MPI's.
inline membership from_broadcast(int rank, int size, broadcast_function broadcast, meeting_options options = {}) {
    options.broadcast = std::move(broadcast);
    return join(find_place({.rank = rank, .size = size}), options);
}

}  // namespace dovetail::cuda
