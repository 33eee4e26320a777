// The contents of a dv::store: the states of one rank by name and tensor, the executors that use them, and whether their values are valid.
#pragma once

#include "../core/display.hpp"
#include "../core/vocabulary.hpp"
#include "error.hpp"
#include "memory.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace dovetail {

struct run_state;

namespace detail {

// The interface of an executor to its store.
class state_user {
public:
    virtual ~state_user() = default;
    // Waits for its runs, before the host accesses a state.
    virtual void drain() = 0;
    // `is_open`: whether it can still issue runs. `place`: the memory of the rank on which it issues them.
    virtual bool is_open() const = 0;
    virtual const memory* place() const = 0;
};

struct stored_state {
    const tag* name = nullptr;
    tensor_type type = {};
    bool shard = false;  // of the state of this name, made by a shard_update; no user reads or writes it
    block where = {};
    bool initialised = false;
    std::string lost = {};  // why the contents are invalid
};

class store_core {
public:
    store_core(std::shared_ptr<memory> source, int rank) : rank{rank}, source_{std::move(source)} {}

    const int rank;

    // Held while a thread uses the store: a second thread gets an exception instead of a data race.
    class usage {
    public:
        explicit usage(store_core* of) : of_{of} {
            if (of != nullptr && of->busy_.test_and_set(std::memory_order_acquire))
                throw usage_error{"the store of rank " + std::to_string(of->rank) + " is used by two threads at once"};
        }
        usage(const usage&) = delete;
        usage& operator=(const usage&) = delete;
        ~usage() {
            if (of_ != nullptr) of_->busy_.clear(std::memory_order_release);
        }

    private:
        store_core* of_ = nullptr;
    };

    // Throws if executors on `place` cannot use the states: they are on another device, or in use by a rank of another world.
    void check_place(const memory& place) {
        const std::string text = "the store of rank " + std::to_string(rank);
        if (source_->device() != place.device()) throw usage_error{text + " is on another device than the executor that is to use it"};
        const std::lock_guard lock{mutex_};
        for (const auto& weak : users_)
            if (const auto user = weak.lock(); user && user->is_open() && user->place() != &place)
                throw usage_error{text + " is used by executors of two worlds at once"};
    }
    // The state, made on first use; its address never changes.
    stored_state& at(const tag* name, const tensor_type& type, bool shard = false) {
        const std::lock_guard lock{mutex_};
        for (const auto& s : states_)
            if (same(s->name, name) && s->type == type && s->shard == shard) return *s;
        states_.push_back(std::make_unique<stored_state>(stored_state{name, type, shard, block{source_, type.bytes()}}));
        return *states_.back();
    }
    void add_user(std::weak_ptr<state_user> user) {
        const std::lock_guard lock{mutex_};
        std::erase_if(users_, [](const auto& u) { return u.expired(); });
        users_.push_back(std::move(user));
    }
    void drain() {
        std::vector<std::weak_ptr<state_user>> users;
        {
            const std::lock_guard lock{mutex_};
            users = users_;
        }
        for (const auto& weak : users)
            if (const auto user = weak.lock()) user->drain();
    }
    void read(const stored_state& s, void* to) {
        const usage one{this};
        drain();
        const std::lock_guard lock{mutex_};
        if (!s.lost.empty()) throw state_error{"state `" + display(*s.name) + "` is lost: " + s.lost};
        if (!s.initialised) throw state_error{"state `" + display(*s.name) + "` was never initialised"};
        source_->to_host(to, s.where.data(), s.type.bytes());
    }
    void write(stored_state& s, const void* from) {
        const usage one{this};
        drain();
        const std::lock_guard lock{mutex_};
        source_->from_host(s.where.data(), from, s.type.bytes());
        set_valid(s);
    }
    // An executor starts to use the state; true if it has to initialise it. One that the store is to hold may be written up to the first
    // run.
    bool adopt(stored_state& s, bool from_store) {
        const std::lock_guard lock{mutex_};
        if (!s.lost.empty()) throw state_error{"state `" + display(*s.name) + "` is lost: " + s.lost};
        if (!s.initialised && from_store) any_invalid_.store(true, std::memory_order_relaxed);
        return !s.initialised && !from_store;
    }
    void initialised(stored_state& s) {
        const std::lock_guard lock{mutex_};
        s.initialised = true;
    }
    // An executor is about to issue `run` on the states. Returns the previous run on them if it belongs to another executor, regardless of
    // other runs of the rank in between. Called by the rank's thread.
    std::shared_ptr<run_state> change_owner(const void* user, const std::shared_ptr<run_state>& run) {
        const std::shared_ptr<run_state> before = std::exchange(last_run_, run).lock();
        return std::exchange(last_user_, user) == user ? nullptr : before;
    }
    // Whether a run may not read some state; if there is none, `why_invalid` need not be called.
    bool any_invalid() const { return any_invalid_.load(std::memory_order_relaxed); }
    // Why a run may not read the state, behind its name; empty if it may.
    std::string why_invalid(const stored_state& s) {
        const std::lock_guard lock{mutex_};
        if (!s.lost.empty()) return "is lost: " + s.lost;
        if (s.initialised) return {};
        return "is to come from the store, which does not hold it: write it, or make the executor that initialises it, before the first "
               "run";
    }
    std::string lost(const stored_state& s) {
        const std::lock_guard lock{mutex_};
        return s.lost;
    }
    void lose(stored_state& s, const std::string& why) {
        const std::lock_guard lock{mutex_};
        if (s.lost.empty()) s.lost = why;
        any_invalid_.store(true, std::memory_order_relaxed);
    }

private:
    // The caller holds the mutex.
    void set_valid(stored_state& s) {
        s.initialised = true;
        s.lost.clear();
        const auto invalid = [](const auto& one) { return !one->initialised || !one->lost.empty(); };
        any_invalid_.store(std::any_of(states_.begin(), states_.end(), invalid), std::memory_order_relaxed);
    }

    std::shared_ptr<memory> source_;
    std::atomic<bool> any_invalid_ = false;
    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    std::mutex mutex_;
    std::vector<std::unique_ptr<stored_state>> states_;
    std::vector<std::weak_ptr<state_user>> users_;
    const void* last_user_ = nullptr;
    std::weak_ptr<run_state> last_run_;
};

}  // namespace detail

}  // namespace dovetail
