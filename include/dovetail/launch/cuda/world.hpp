// A world of GPUs. world::local(n): one process, a thread for each GPU; world::adopt(comm, device): the caller's communicator
// and device; world::of(part): one rank of several processes. `run` calls a function on every rank that this process plays.
// Before the first CUDA call of the program, a world asks for eager loading of kernels (CUDA_MODULE_LOADING=EAGER, unless it
// is set): a kernel that is loaded at its first launch may wait for NCCL's, which wait for a peer.
#pragma once

#include "engine.hpp"

#include <cstdlib>
#include <functional>
#include <optional>

namespace dovetail::cuda {

// What a rank's thread works with. Streams and communicators are shared by the executors that are made on it.
class rank {
public:
    using stream = cuda::stream;

    explicit rank(std::shared_ptr<context> on) : on_{std::move(on)} {}
    rank(const rank&) = delete;
    rank& operator=(const rank&) = delete;
    ~rank() { on_->end(); }

    int index() const { return on_->index; }
    int size() const { return on_->size; }
    int device() const { return on_->device; }

    // Whether this rank plays a role; known once an executor was made. In a folded graph it plays all of them.
    template <class Name>
    bool is(Name) const {
        if (!knows_roles_) throw usage_error{"rank " + std::to_string(index()) + " does not know its role before an executor is made on it"};
        for (const tag* played : roles_)
            if (played == &tag_of<typename Name::type>) return true;
        return false;
    }

    // For the library: memory and engines of this rank.
    std::shared_ptr<memory> device_memory() const { return on_->memory; }
    const std::shared_ptr<context>& state() const { return on_; }
    std::shared_ptr<engine> make_engine(const image<stream>& from, engine_options options) {
        check(calls.set_device(on_->device), "cudaSetDevice");
        auto made = device_engine::make(from, on_, std::move(options));
        knows_roles_ = true;
        for (int r = 0; r < from.graph.roles.size(); ++r)
            if ((from.graph.folded || r == made->role) && from.graph.roles[r].name != nullptr) roles_.push_back(from.graph.roles[r].name);
        return made;
    }

private:
    std::shared_ptr<context> on_;
    std::vector<const tag*> roles_;
    bool knows_roles_ = false;
};

// One rank of a world of processes: who it is, how it finds the others, and how it talks to them.
struct membership {
    int rank = 0;
    int size = 1;
    int device = 0;
    std::function<ncclUniqueId()> id = {};  // the same on all ranks
    std::shared_ptr<peers> control = {};    // null: agreement through NCCL itself
};

namespace detail {

// Agreement through the communicator, where there is no other channel: an all_gather of short texts.
class communicator_peers final : public peers {
public:
    communicator_peers(int rank, int size) : mine_{rank}, local_{1}, size_{size} {}
    void use(context* on) { on_ = on; }

    int size() const override { return size_; }
    std::vector<std::string> exchange(int, const std::string& what, const std::string& mine, std::chrono::nanoseconds limit) override {
        constexpr std::size_t length = 1024;
        std::vector<char> texts(length * static_cast<std::size_t>(size_));
        mine.copy(texts.data() + length * static_cast<std::size_t>(mine_), length - 1);
        const block on_device{on_->memory, static_cast<std::int64_t>(texts.size())};
        char* const own = on_device.data() + length * static_cast<std::size_t>(mine_);
        on_->memory->from_host(own, texts.data() + length * static_cast<std::size_t>(mine_), length);
        check(calls.all_gather(own, on_device.data(), length, ncclInt8, on_->all(), on_->streams[0]), "ncclAllGather");
        const auto until = std::chrono::steady_clock::now() + limit;
        while (calls.stream_query(on_->streams[0]) == cudaErrorNotReady) {
            static_cast<void>(calls.get_last_error());
            on_->check_communicators();
            if (std::chrono::steady_clock::now() > until) {
                on_->abort_communication();
                throw timeout{"timeout: rank " + std::to_string(mine_) + " waits for all ranks at " + what, mine_};
            }
            std::this_thread::sleep_for(std::chrono::microseconds{50});
        }
        check(calls.stream_query(on_->streams[0]), "cudaStreamQuery");
        on_->memory->to_host(texts.data(), on_device.data(), static_cast<std::int64_t>(texts.size()));
        std::vector<std::string> all;
        for (int r = 0; r < size_; ++r) all.emplace_back(texts.data() + length * static_cast<std::size_t>(r));
        return all;
    }
    void abort(const cause& why) override { local_.abort(why); }
    bool aborted() const noexcept override { return local_.aborted(); }
    cause why() const override { return local_.why(); }
    void leave(int) noexcept override {}
    bool gone(int) const noexcept override { return false; }
    void watch(int, std::shared_ptr<const progress> p) override { local_.watch(0, std::move(p)); }
    std::string describe() const override {
        auto text = local_.describe();
        return text.replace(0, 6, "rank " + std::to_string(mine_));
    }
    std::string in_order(int, std::int64_t, int, const std::string&) override { return {}; }

private:
    const int mine_;
    local_peers local_;
    const int size_;
    context* on_ = nullptr;
};

// Version codes are 10000 a major number since 2.9.
inline std::string nccl_version_text(int code) {
    return code < 10000 ? std::to_string(code / 1000) + "." + std::to_string(code / 100 % 10) + "." + std::to_string(code % 100)
                        : std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." + std::to_string(code % 100);
}

// The number of devices; throws what keeps this machine from having any.
inline int devices_here() {
    static const bool asked = [] {
        setenv("CUDA_MODULE_LOADING", "EAGER", 0);
        return true;
    }();
    static_cast<void>(asked);
    int version = 0;
    if (const ncclResult_t status = calls.get_version(&version); status != ncclSuccess)
        throw world_error{std::string{"ncclGetVersion: "} + ncclGetErrorString(status)};
    if (version < NCCL_VERSION_CODE)
        throw world_error{"the NCCL library found at run time is version " + nccl_version_text(version) + ", older than the headers of this program (" +
                          nccl_version_text(NCCL_VERSION_CODE) + "): put the newer libnccl.so.2 first on LD_LIBRARY_PATH, or compile with the older headers"};
    int devices = 0;
    const cudaError_t status = calls.get_device_count(&devices);
    if (status == cudaErrorInsufficientDriver || status == cudaErrorStubLibrary)
        throw world_error{std::string{"no CUDA driver that fits this program: "} + cudaGetErrorString(status)};
    if (status == cudaErrorNoDevice || (status == cudaSuccess && devices == 0)) throw world_error{"no CUDA device on this machine"};
    if (status != cudaSuccess) throw world_error{std::string{"cudaGetDeviceCount: "} + cudaGetErrorString(status)};
    return devices;
}

}  // namespace detail

class world {
public:
    // n ranks as threads of this process, rank r on device r, or on the devices given.
    static world local(int ranks, std::vector<int> devices = {}) {
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
                    throw world_error{"ranks " + std::to_string(q) + " and " + std::to_string(r) + " are both to use device " + std::to_string(devices[r])};
        }
        world w;
        w.size_ = ranks;
        w.devices_ = std::move(devices);
        return w;
    }
    // This process plays one rank.
    static world of(membership m) {
        const int there = detail::devices_here();
        if (m.device < 0 || m.device >= there)
            throw world_error{"rank " + std::to_string(m.rank) + " is to use device " + std::to_string(m.device) + ", and this machine has " +
                              std::to_string(there)};
        if (m.size < 1 || m.rank < 0 || m.rank >= m.size) throw world_error{"rank " + std::to_string(m.rank) + " of a world of " + std::to_string(m.size)};
        world w;
        w.size_ = m.size;
        w.part_ = std::move(m);
        return w;
    }
    // The caller's communicator and the device it was made on. The library works on a communicator split from it; the caller's
    // own is left as it is, and work on it must be ordered by `enqueue`.
    static world adopt(ncclComm_t comm, int device) {
        detail::devices_here();
        membership m;
        int at = 0;
        try {
            check(calls.comm_count(comm, &m.size), "ncclCommCount");
            check(calls.comm_user_rank(comm, &m.rank), "ncclCommUserRank");
            check(calls.comm_device(comm, &at), "ncclCommCuDevice");
        } catch (const call_error& e) {
            throw world_error{std::string{"the communicator given is not usable: "} + e.what()};
        }
        if (at != device) throw world_error{"the communicator given is on device " + std::to_string(at) + ", not " + std::to_string(device)};
        m.device = device;
        world w = of(std::move(m));
        w.adopted_ = comm;
        return w;
    }

    int size() const { return size_; }
    std::string links() const { return "GPUs; communication by NCCL " + detail::nccl_version_text(NCCL_VERSION_CODE); }

    // Calls body(rank) for every rank of this process and waits for all of them. Throws the first exception that a rank left
    // with; the ranks that fail only because of it end with an exception of their own, which is not shown.
    template <class Body>
    void run(Body&& body) {
        std::mutex guard;
        std::exception_ptr first, first_peer;
        const auto play = [&](const std::shared_ptr<peers>& shared, int index, auto make) {
            const auto left = [&](const std::exception_ptr& what, bool peer, const std::string& text) {
                {
                    const std::lock_guard lock{guard};
                    auto& to = peer ? first_peer : first;
                    if (!to) to = what;
                }
                shared->abort({index, "rank " + std::to_string(index) + " left with an exception: " + text, {}, {}, what, true});
            };
            try {
                cuda::rank me{make()};
                try {
                    body(me);
                } catch (const peer_error& e) {
                    left(std::current_exception(), true, e.what());
                } catch (const std::exception& e) {
                    left(std::current_exception(), false, e.what());
                } catch (...) {
                    left(std::current_exception(), false, "no std::exception");
                }
            } catch (const std::exception& e) {
                left(std::current_exception(), false, e.what());
            }
            shared->leave(index);
        };
        if (part_)
            run_part(play);
        else
            run_threads(play);
        if (first) std::rethrow_exception(first);
        if (first_peer) std::rethrow_exception(first_peer);
    }

private:
    world() = default;

    // All communicators are made by one thread in one group, so that a device that fails leaves nobody waiting.
    std::vector<ncclComm_t> connect() const {
        std::vector<ncclComm_t> comms(static_cast<std::size_t>(size_), nullptr);
        try {
            ncclUniqueId id{};
            check(calls.get_unique_id(&id), "ncclGetUniqueId");
            check(calls.group_start(), "ncclGroupStart");
            try {
                for (int r = 0; r < size_; ++r) {
                    check(calls.set_device(devices_[r]), "cudaSetDevice");
                    check(calls.comm_init_rank(&comms[r], size_, id, r), "ncclCommInitRank");
                }
            } catch (...) {
                static_cast<void>(calls.group_end());
                throw;
            }
            check(calls.group_end(), "ncclGroupEnd");
        } catch (const call_error& e) {
            for (const ncclComm_t c : comms)
                if (c != nullptr) static_cast<void>(calls.comm_abort(c));
            throw world_error{"the ranks of the world cannot be joined: " + std::string{e.what()}};
        }
        return comms;
    }
    template <class Play>
    void run_threads(const Play& play) {
        const std::shared_ptr<peers> shared = std::make_shared<local_peers>(size_);
        const std::vector<ncclComm_t> comms = connect();
        std::vector<std::thread> threads;
        for (int r = 0; r < size_; ++r)
            threads.emplace_back([&, r] { play(shared, r, [&] { return std::make_shared<context>(shared, r, size_, devices_[r], comms[r]); }); });
        for (auto& t : threads) t.join();
    }
    template <class Play>
    void run_part(const Play& play) {
        const membership& m = *part_;
        const auto through_nccl = m.control ? nullptr : std::make_shared<detail::communicator_peers>(m.rank, m.size);
        const std::shared_ptr<peers> shared = m.control ? m.control : through_nccl;
        play(shared, m.rank, [&] {
            ncclComm_t all = nullptr;
            try {
                check(calls.set_device(m.device), "cudaSetDevice");
                if (adopted_ != nullptr)
                    check(calls.comm_split(adopted_, 0, m.rank, &all, nullptr), "ncclCommSplit");
                else
                    check(calls.comm_init_rank(&all, m.size, m.id(), m.rank), "ncclCommInitRank");
            } catch (const call_error& e) {
                throw world_error{"rank " + std::to_string(m.rank) + " cannot join the world: " + e.what()};
            }
            auto made = std::make_shared<context>(shared, m.rank, m.size, m.device, all);
            if (through_nccl) through_nccl->use(made.get());
            return made;
        });
    }

    int size_ = 1;
    std::vector<int> devices_;
    std::optional<membership> part_;
    ncclComm_t adopted_ = nullptr;
};

}  // namespace dovetail::cuda
