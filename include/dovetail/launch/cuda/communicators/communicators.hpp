// The NCCL communicators of one rank: the world's, and one for each split of it, made on demand by all ranks in one order; the memory
// registered with them; and their destruction within a time bound.
#pragma once

#include "../../world/world_options.hpp"
#include "../api/api.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace dovetail::cuda {

// The colours (-1: not a member) and keys of ncclCommSplit, by rank.
struct communicator_split {
    std::vector<int> color, key;

    static communicator_split of_all(int ranks) {
        communicator_split d;
        d.color.assign(static_cast<std::size_t>(ranks), 0);
        for (int r = 0; r < ranks; ++r) d.key.push_back(r);
        return d;
    }
    bool whole() const {
        for (std::size_t r = 0; r < color.size(); ++r)
            if (color[r] != 0 || key[r] != static_cast<int>(r)) return false;
        return true;
    }
    friend bool operator==(const communicator_split&, const communicator_split&) = default;
};

namespace detail {

// From NCCL 2.29.2 on, a communicator used only in captures saves an event for each captured call.
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 29, 2)
inline constexpr bool replayed_apart = true;
inline void for_replay(ncclConfig_t& c) { c.graphUsageMode = 1; }
#else
inline constexpr bool replayed_apart = false;
inline void for_replay(ncclConfig_t&) {}
#endif

inline ncclConfig_t config_of(const nccl_options& o, bool replayed) {
    ncclConfig_t c = NCCL_CONFIG_INITIALIZER;
    if (o.min_ctas > 0) c.minCTAs = o.min_ctas;
    if (o.max_ctas > 0) c.maxCTAs = o.max_ctas;
    if (replayed) for_replay(c);
    return c;
}

}  // namespace detail

// A lock that a thread holds while it calls NCCL, so that an abort on another thread does not interrupt a call. Its destructor closes an
// NCCL group that an exception has left open.
class nccl_lock {
public:
    nccl_lock() = default;
    explicit nccl_lock(std::unique_lock<std::recursive_timed_mutex> lock) : lock_{std::move(lock)} {}
    nccl_lock(nccl_lock&&) = default;
    nccl_lock& operator=(nccl_lock&&) = default;
    ~nccl_lock() {
        if (lock_.owns_lock() && std::uncaught_exceptions() > before_) static_cast<void>(calls.group_end());
    }

private:
    std::unique_lock<std::recursive_timed_mutex> lock_;
    int before_ = std::uncaught_exceptions();
};

// Thrown on a rank whose communication was aborted; the world has the reason.
struct communication_aborted : failure {
    communication_aborted() : failure{"the communicators are gone: the communication was aborted"} {}
};

class communicators {
public:
    communicators(ncclComm_t all, int rank, int device, const nccl_options& options)
        : rank_{rank}, device_{device}, options_{options}, all_{all} {}
    communicators(const communicators&) = delete;
    communicators& operator=(const communicators&) = delete;
    ~communicators() {
        abort([] {});
    }

    ncclComm_t all() const { return all_; }
    // This rank's communicator of a split; null if it has no colour. All ranks call it with the same split. Replayed work uses
    // communicators of its own if that is cheaper.
    ncclComm_t of(const communicator_split& d, bool replayed) {
        const bool for_replay_only = replayed && detail::replayed_apart;
        if (d.whole() && !for_replay_only) return all_;
        for (const auto& s : splits_)
            if (s.of == d && s.replayed == for_replay_only) return s.comm;
        const auto nccl_held = lock_calls();
        const int color = d.color[static_cast<std::size_t>(rank_)];
        ncclConfig_t config = detail::config_of(options_, for_replay_only);  // without a configuration, a split has that of its parent
        ncclComm_t made = nullptr;
        check(calls.comm_split(all_, color < 0 ? NCCL_SPLIT_NOCOLOR : color, color < 0 ? 0 : d.key[static_cast<std::size_t>(rank_)], &made,
                               for_replay_only || options_.given() ? &config : nullptr),
              "ncclCommSplit");
        const std::lock_guard lock{mutex_};
        splits_.push_back({d, for_replay_only, made});
        return made;
    }
    // Throws if the communicators were aborted or destroyed.
    nccl_lock lock_calls() {
        std::unique_lock lock{nccl_mutex_};
        if (dead_.load(std::memory_order_acquire)) throw communication_aborted{};
        return nccl_lock{std::move(lock)};
    }
    // Throws asynchronous errors of NCCL.
    void check_async_errors() {
        const std::lock_guard lock{mutex_};
        if (dead_.load(std::memory_order_relaxed)) return;
        const auto ask = [](ncclComm_t c) {
            ncclResult_t found = ncclSuccess;
            check(calls.comm_get_async_error(c, &found), "ncclCommGetAsyncError");
            if (found != ncclInProgress) check(found, "NCCL");
        };
        for (const auto& s : splits_)
            if (s.comm != nullptr) ask(s.comm);
        if (all_ != nullptr) ask(all_);
    }

    // Registers memory with the given communicators, until the returned object is destroyed.
    std::shared_ptr<void> register_memory(const std::vector<ncclComm_t>& with, void* at, std::size_t bytes) {
        struct registration {
            communicators* owner;
            std::vector<std::pair<ncclComm_t, void*>> handles;
            ~registration() {
                const std::unique_lock nccl_held{owner->nccl_mutex_};
                if (!owner->dead_.load(std::memory_order_acquire))
                    for (const auto& [comm, handle] : handles) static_cast<void>(calls.comm_deregister(comm, handle));
            }
        };
        auto made = std::make_shared<registration>(registration{this, {}});
        const auto nccl_held = lock_calls();
        for (const ncclComm_t c : with) {
            void* handle = nullptr;
            check(calls.comm_register(c, at, bytes, &handle), "ncclCommRegister");
            if (handle != nullptr) made->handles.emplace_back(c, handle);
        }
        return made;
    }

    // Ends NCCL's work on this rank, from any thread, once. Waits for a thread inside an NCCL call; if that thread does not return, the
    // communicators are revoked first, since an abort frees memory that the call still uses. Then `before` destroys the CUDA graphs: NCCL
    // does not release a communicator while a graph that contains its work exists.
    template <class Before>
    void abort(Before&& before) noexcept {
        std::unique_lock nccl_held{nccl_mutex_, std::chrono::milliseconds{300}};
        if (!nccl_held.owns_lock()) {
            revoke();
            static_cast<void>(nccl_held.try_lock_for(std::chrono::seconds{5}));
        }
        before();
        end(calls.comm_abort, at_once);
    }
    // The normal end: all work is done.
    void destroy() noexcept {
        const std::unique_lock nccl_held{nccl_mutex_};
        end(calls.comm_destroy, in_turn);
    }

private:
    std::vector<ncclComm_t> those() const {
        std::vector<ncclComm_t> all;
        for (const auto& s : splits_)
            if (s.comm != nullptr) all.push_back(s.comm);
        if (all_ != nullptr) all.push_back(all_);
        return all;
    }
    void revoke() noexcept {
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 9)
        const std::lock_guard lock{mutex_};
        if (dead_.load(std::memory_order_relaxed)) return;
        for (const ncclComm_t c : those()) static_cast<void>(calls.comm_revoke(c, NCCL_REVOKE_DEFAULT));
#endif
    }
    using parts = std::vector<std::vector<ncclComm_t>>;
    static parts in_turn(std::vector<ncclComm_t> all) { return {std::move(all)}; }
    static parts at_once(const std::vector<ncclComm_t>& all) {
        parts each;
        for (const ncclComm_t c : all) each.push_back({c});
        return each;
    }
    // Each part of the communicators on a detached thread: if NCCL does not return from one, that keeps neither the other parts nor the end
    // of the rank, which waits for at most ten seconds. An abort may wait for all kernels of the device, also for those of a communicator
    // whose turn would come later (NVIDIA/nccl issue 1013).
    template <class Divide>
    void end(ncclResult_t (*how)(ncclComm_t), Divide divide) noexcept {
        std::unique_lock lock{mutex_};
        if (!dead_.exchange(true, std::memory_order_acq_rel)) {
            const parts divided = divide(those());
            ending_ = std::make_shared<ending>();
            ending_->left = divided.size();
            for (const std::vector<ncclComm_t>& part : divided) {
                const auto work = [part, how, device = device_, e = ending_] {
                    static_cast<void>(calls.set_device(device));
                    for (const ncclComm_t c : part) static_cast<void>(how(c));
                    e->count_one();
                };
                try {
                    std::thread{work}.detach();
                } catch (...) {  // no thread can be created
                    work();
                }
            }
        }
        const auto e = ending_;
        lock.unlock();
        e->wait_for(std::chrono::seconds{10});
    }

    // Counts the parts that have not ended yet.
    struct ending {
        std::mutex mutex;
        std::condition_variable changed;
        std::size_t left = 0;

        void count_one() {
            {
                const std::lock_guard lock{mutex};
                --left;
            }
            changed.notify_all();
        }
        void wait_for(std::chrono::seconds limit) {
            std::unique_lock lock{mutex};
            changed.wait_for(lock, limit, [this] { return left == 0; });
        }
    };
    struct made_split {
        communicator_split of;
        bool replayed = false;
        ncclComm_t comm = nullptr;
    };
    const int rank_, device_;
    const nccl_options options_;
    const ncclComm_t all_;
    std::vector<made_split> splits_;
    std::recursive_timed_mutex nccl_mutex_;
    std::mutex mutex_;  // guards the members below and `splits_`
    std::atomic<bool> dead_ = false;
    std::shared_ptr<ending> ending_;
};

}  // namespace dovetail::cuda
