// The contents of a dv::store: the states of one rank by name and tensor, the executors that use them, and whether their values are valid.
#pragma once

#include "../core/display.hpp"
#include "../core/vocabulary.hpp"
#include "engine/memory.hpp"
#include "engine/one_thread.hpp"
#include "error.hpp"
#include "stored_state.hpp"

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

// Where the rank is along an axis of a graph's mesh.
struct axis_position {
    const tag* axis = nullptr;
    int index = 0, width = 1;
};

class store_core {
public:
    store_core(std::shared_ptr<memory> source, int rank) : rank{rank}, source_{std::move(source)} {}

    const int rank;

    // Held while a thread uses the store: a second thread gets an exception instead of a data race.
    class usage : launch::one_thread::use {
    public:
        explicit usage(store_core* of)
            : use{of == nullptr ? nullptr : &of->one_thread_,
                  [of] { return "the store of rank " + std::to_string(of->rank) + " is used"; }} {}
    };

    // Throws if executors on `place` cannot use the states: they are on another device, or in use by a rank of another world. Positions are
    // those of the latest world.
    void check_place(const memory& place) {
        check_kept();
        const std::string text = "the store of rank " + std::to_string(rank);
        if (source_->device() != place.device()) throw usage_error{text + " is on another device than the executor that is to use it"};
        for (const auto& user : users())
            if (user->is_open() && user->place() != &place) throw usage_error{text + " is used by executors of two worlds at once"};
        const std::lock_guard lock{mutex_};
        if (std::exchange(positions_on_, &place) != &place) positions_.clear();
    }
    // What an executor's graph says of the rank and of its states.
    void add_position(const axis_position& p) {
        const std::lock_guard lock{mutex_};
        for (const axis_position& known : positions_)
            if (same(known.axis, p.axis) && known.index == p.index && known.width == p.width) return;
        positions_.push_back(p);
    }
    // Throws if what a graph says of a state does not fit to what others say.
    void check_equal(const stored_state& s, const equality& said) {
        const std::lock_guard lock{mutex_};
        const equality both = with(s, said);
        for (const int other : both.ranks)
            if (both.kept && !both.kept->contains(other))
                throw usage_error{"rank " + std::to_string(rank) + ": one graph declares state `" + display(*s.name) +
                                  "` to be equal to that of rank " + std::to_string(other) +
                                  " (`replicated`), and another updates it without that, so that the two may differ: declare it in both"};
    }
    void add_equal(stored_state& s, const equality& said) {
        const std::lock_guard lock{mutex_};
        s.equal = with(s, said);
    }
    // Throws unless the executors that have used the store agree on it.
    axis_position position_along(const tag& axis) {
        const std::lock_guard lock{mutex_};
        const axis_position* found = nullptr;
        for (const axis_position& p : positions_) {
            if (!same(p.axis, &axis)) continue;
            if (found != nullptr)
                throw usage_error{"executors with the store of rank " + std::to_string(rank) + " have different positions along axis `" +
                                  display(axis) + "`: " + text(*found) + " and " + text(p)};
            found = &p;
        }
        if (found == nullptr)
            throw usage_error{"no executor whose graph has axis `" + display(axis) + "` was made with the store of rank " +
                              std::to_string(rank)};
        return *found;
    }
    // The state, made on first use; its address never changes.
    stored_state& at(const tag* name, const tensor_type& type, bool shard = false) {
        const std::lock_guard lock{mutex_};
        if (stored_state* const known = find_locked(*name, type, shard)) return *known;
        states_.push_back(std::make_unique<stored_state>(stored_state{name, type, shard, block{source_, type.bytes()}}));
        return *states_.back();
    }
    // The state; throws if there is none.
    const stored_state& existing(const tag& name, const tensor_type& type) {
        const std::lock_guard lock{mutex_};
        if (const stored_state* const known = find_locked(name, type, false)) return *known;
        std::string held;
        for (const auto& s : states_)
            if (same(s->name, &name) && !s->shard) held += (held.empty() ? "" : ", ") + display(s->type);
        throw state_error{
            "state `" + display(name) + "` " +
            (held.empty() ? "was never initialised" : "of " + display(type) + " was never initialised: the store holds that of " + held)};
    }
    // All states but those that rewrites made.
    std::vector<stored_state*> whole_states() {
        const std::lock_guard lock{mutex_};
        std::vector<stored_state*> all;
        for (const auto& s : states_)
            if (!s->shard) all.push_back(s.get());
        return all;
    }
    void add_user(std::weak_ptr<state_user> user) {
        const std::lock_guard lock{mutex_};
        std::erase_if(users_, [](const auto& u) { return u.expired(); });
        users_.push_back(std::move(user));
    }
    void drain() {
        for (const auto& user : users()) user->drain();
    }
    void read(const stored_state& s, void* to) {
        const usage one{this};
        drain();
        check_valid(s);
        const std::lock_guard lock{mutex_};
        source_->to_host(to, s.where.data(), s.type.bytes());
    }
    void write(stored_state& s, const void* from) {
        const usage one{this};
        drain();
        check_kept();
        const bool used = is_used();
        const std::lock_guard lock{mutex_};
        try {
            source_->from_host(s.where.data(), from, s.type.bytes());
        } catch (const std::exception& e) {
            lose_replaced(s, e);
            throw;
        }
        set_valid(s, used);
    }
    // Throws if the state has no value.
    void check_valid(const stored_state& s) {
        const std::lock_guard lock{mutex_};
        if (!s.lost.empty()) throw state_error{"state `" + display(*s.name) + "` is lost: " + s.lost};
        if (!s.initialised) throw state_error{"state `" + display(*s.name) + "` was never initialised"};
    }
    // Copies a part of a valid state. The caller has a `usage` and has drained the store.
    void copy_to_host(const stored_state& s, std::int64_t first, std::int64_t bytes, void* to) {
        source_->to_host(to, s.where.data() + first, bytes);
    }
    struct contents {
        stored_state* of = nullptr;
        std::unique_ptr<char[]> data;
    };
    // Replaces the contents of states; the caller is as that of copy_to_host. If the device fails, all of them are lost.
    void replace(const std::vector<contents>& all) {
        check_kept();
        const bool used = is_used();
        const std::lock_guard lock{mutex_};
        try {
            for (const contents& c : all) source_->from_host(c.of->where.data(), c.data.get(), c.of->type.bytes());
        } catch (const std::exception& e) {
            for (const contents& c : all) lose_replaced(*c.of, e);
            throw;
        }
        for (const contents& c : all) set_valid(*c.of, used);
    }
    // An executor starts to use the state; true if it has to initialise it. One that the store is to hold may be written or loaded up to
    // the first run that reads it, or is written by a run.
    bool adopt(stored_state& s, bool from_store) {
        const std::lock_guard lock{mutex_};
        if (!s.lost.empty()) throw state_error{"state `" + display(*s.name) + "` is lost: " + s.lost};
        if (!s.initialised && from_store) any_invalid_.store(true, std::memory_order_relaxed);
        return !s.initialised && !from_store;
    }
    void initialised(stored_state& s) {
        const std::lock_guard lock{mutex_};
        s.initialised = true;
        look_for_invalid();
    }
    // An executor is about to issue `run` on the states. Returns the previous run on them if it belongs to another executor, regardless of
    // other runs of the rank in between. Called by the rank's thread.
    std::shared_ptr<run_state> change_owner(const void* user, const std::shared_ptr<run_state>& run) {
        const std::shared_ptr<run_state> before = std::exchange(last_run_, run).lock();
        return std::exchange(last_user_, user) == user ? nullptr : before;
    }
    // Whether a run may not read some state; if there is none, `why_invalid` need not be called.
    bool any_invalid() const { return any_invalid_.load(std::memory_order_relaxed); }
    // Why a run may not use the state, behind its name; empty if it may. `written_first`: it writes it before it reads it.
    std::string why_invalid(const stored_state& s, bool written_first = false) {
        const std::lock_guard lock{mutex_};
        if (!s.lost.empty()) return "is lost: " + s.lost;
        if (s.initialised || written_first) return {};
        return "is to come from the store, which does not hold it: write or load it, make the executor that initialises it, or run one "
               "that writes it, before the first run";
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
    static std::string text(const axis_position& p) { return std::to_string(p.index) + " of " + std::to_string(p.width); }
    // The executors that are left. Not for callers that hold the mutex, since the last owner of one ends it.
    std::vector<std::shared_ptr<state_user>> users() {
        std::vector<std::shared_ptr<state_user>> left;
        const std::lock_guard lock{mutex_};
        for (const auto& weak : users_)
            if (auto user = weak.lock()) left.push_back(std::move(user));
        return left;
    }
    bool is_used() {
        const auto all = users();
        return std::any_of(all.begin(), all.end(), [](const auto& user) { return user->is_open(); });
    }
    // For callers that hold the mutex.
    stored_state* find_locked(const tag& name, const tensor_type& type, bool shard) const {
        for (const auto& s : states_)
            if (same(s->name, &name) && s->type == type && s->shard == shard) return s.get();
        return nullptr;
    }
    static equality with(const stored_state& s, const equality& said) {
        equality both = s.equal.world_size == said.world_size ? s.equal : equality{said.world_size};
        both.add(said);
        return both;
    }
    // The program has given the state a value, and what earlier updates let differ is gone, unless executors can make more of them.
    void set_valid(stored_state& s, bool may_be_updated) {
        if (!may_be_updated) s.equal.kept.reset();
        s.initialised = true;
        s.lost.clear();
        look_for_invalid();
    }
    void check_kept() const {
        if (source_->abandoned())
            throw state_error{"the states of rank " + std::to_string(rank) +
                              " may still be written by work that an abort has left on the device: make a new store"};
    }
    void lose_replaced(stored_state& s, const std::exception& e) {
        s.lost = "its contents were being replaced: " + text_of(e);
        any_invalid_.store(true, std::memory_order_relaxed);
    }
    void look_for_invalid() {
        const auto invalid = [](const auto& one) { return !one->initialised || !one->lost.empty(); };
        any_invalid_.store(std::any_of(states_.begin(), states_.end(), invalid), std::memory_order_relaxed);
    }

    std::shared_ptr<memory> source_;
    std::atomic<bool> any_invalid_ = false;
    launch::one_thread one_thread_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<stored_state>> states_;
    std::vector<std::weak_ptr<state_user>> users_;
    std::vector<axis_position> positions_;
    const memory* positions_on_ = nullptr;
    const void* last_user_ = nullptr;
    std::weak_ptr<run_state> last_run_;
};

}  // namespace detail

}  // namespace dovetail
