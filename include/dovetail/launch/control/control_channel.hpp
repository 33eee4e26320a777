// The control channel of a world of several processes, as one rank sees it. All ranks exchange texts, one abort ends the work of all, and
// each rank knows how far the others have come. The two ends in `channel_endpoint.hpp` carry the messages; the watchdog thread of each end
// calls this class.
#pragma once

#include "../world/mismatch.hpp"
#include "announced_activity.hpp"
#include "call_log.hpp"
#include "socket.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace dovetail::control {

class control_channel {
public:
    using limit_type = std::chrono::nanoseconds;

    control_channel(int rank, int size, control_timing timing)
        : timing_{timing}, rank_{rank}, size_{size}, statuses_(static_cast<std::size_t>(size)) {}
    control_channel(const control_channel&) = delete;
    control_channel& operator=(const control_channel&) = delete;
    virtual ~control_channel() = default;

    int rank() const { return rank_; }
    int size() const { return size_; }

    // Every rank contributes a text at the same place of its program; all get the texts of all ranks, by rank. Throws timeout, with the
    // missing ranks; world_error if a rank has left or is at another place; or the error that ended the work. After an exception the ranks
    // are no longer at the same place: abort, or end.
    std::vector<std::string> exchange(const std::string& what, std::string mine, limit_type limit) {
        const auto until = detail::after(limit);
        std::unique_lock lock{mutex_};
        if (abort_reason_) raise_locked();
        if (mine.size() > detail::longest_contribution)
            throw usage_error{"rank " + std::to_string(rank_) + " sends " + std::to_string(mine.size()) + " bytes for " + what +
                              ", and at most " + std::to_string(detail::longest_contribution) + " can be exchanged"};
        const std::int64_t number = exchanges_;
        const awaiting result{*this, number};
        // Under the lock, so that contributions are sent in the order of their numbers
        send_contribution({number, rank_, what, std::move(mine)});
        ++exchanges_;
        int gone = -1;
        const auto over = [&, this] { return results_.contains(number) || abort_reason_ || (gone = first_gone(number)) >= 0; };
        if (!changed_.wait_until(lock, until, over)) refresh(lock, over);
        if (const auto found = results_.find(number); found != results_.end()) {
            if (!found->second.fault.empty())
                throw world_error{"rank " + std::to_string(rank_) + " at " + what + ": " + found->second.fault};
            return std::move(found->second.texts);
        }
        if (abort_reason_) raise_locked("waits for all ranks at " + what);
        if (gone >= 0)
            throw world_error{"rank " + std::to_string(rank_) + " is at " + what + ", and rank " + std::to_string(gone) +
                              " has left without it"};
        std::vector<int> missing;
        for (int r = 0; r < size_; ++r)
            if (statuses_[r].exchanges <= number && r != rank_) missing.push_back(r);
        throw timeout{"timeout after " + detail::in_seconds(limit) + ": rank " + std::to_string(rank_) + " waits for all ranks at " + what +
                          ", and these have not come: " +
                          (missing.empty() ? "unknown, since rank 0 does not answer" : detail::list_of_ranks(missing)),
                      rank_};
    }
    void barrier(const std::string& what, limit_type limit) { exchange(what, {}, limit); }
    // Every rank contributes a hash and a name for it; throws on all of them, with the ranks that differ, unless all are equal.
    void require_equal(const std::string& on, std::uint64_t hash, const std::string& name, limit_type limit) {
        const std::string mismatch = launch::mismatch(exchange(on, std::to_string(hash) + " " + name, limit));
        if (!mismatch.empty()) throw world_error{on + " differs: " + printable(mismatch)};
    }

    // Ends the work of all ranks. Only the first reason is kept. May be called from any thread, and repeatedly.
    void abort(const abort_reason& why) noexcept {
        try {
            const std::lock_guard lock{mutex_};
            if (!counts(why)) return;
            // Sent to the others first, so that no callback of this rank's watchdog can delay it.
            broadcast_abort(why);
            abort_reason_ = why;
        } catch (...) {  // no memory for the message: the other ranks detect the end of this one
        }
        aborted_.store(true, std::memory_order_release);
        changed_.notify_all();
        wake();
    }
    bool aborted() const noexcept { return aborted_.load(std::memory_order_acquire); }
    std::optional<abort_reason> why() const {
        const std::lock_guard lock{mutex_};
        return abort_reason_;
    }

    // Callbacks on the watchdog's thread. `at_stop` is called once, when the work has ended or if it has already; `each_period` with every
    // heartbeat, which it must not delay for long. They may call everything here. Their exceptions are dropped.
    void watch(std::function<void(const abort_reason&)> at_stop, std::function<void()> each_period = {}) {
        {
            const std::lock_guard lock{mutex_};
            at_stop_ = std::move(at_stop);
            each_period_ = std::move(each_period);
        }
        wake();
    }
    // True: no callback will be called any more. False: a callback did not return within the limit.
    bool unwatch(limit_type limit) {
        if (in_forked_child()) return true;
        std::unique_lock lock{mutex_};
        at_stop_ = nullptr;
        each_period_ = nullptr;
        if (calling_ == std::this_thread::get_id()) return true;
        return changed_.wait_until(lock, detail::after(limit), [&, this] { return calling_ == std::thread::id{}; });
    }

    // The present run and step of this rank; cheap enough to be called at every step. Readers may see the run of one call with the step of
    // another, which does no harm: only the position of a rank that makes no progress is used.
    void announce(run_position at) noexcept {
        run_.store(at.run, std::memory_order_relaxed);
        step_.store(at.step, std::memory_order_relaxed);
    }
    // The same in words, asked for by the watchdog with every heartbeat.
    void announce(std::function<activity()> doing) { activity_.set(std::move(doing)); }
    // Executors are called in one order on all ranks: each call is sent to rank 0, which compares; a difference ends the work.
    void called(int executor) noexcept { calls_.add(executor); }
    // This rank takes no further part in the present work of the ranks; it may take part in later work.
    void leave() noexcept {
        try {
            announce(std::function<activity()>{});
            std::int64_t leaves = 0;
            {
                const std::lock_guard lock{mutex_};
                leaves = ++leaves_;
            }
            send_leave(leaves);
        } catch (...) {  // no memory: the end of the channel reports it later
        }
    }
    // Whether another rank has left work in which this rank still takes part.
    bool left(int rank) const {
        const std::lock_guard lock{mutex_};
        return left_locked(rank);
    }
    std::vector<peer_status> statuses() const {
        const std::lock_guard lock{mutex_};
        return statuses_;
    }
    // "rank 2 is behind: run 3, step 1; rank 0: run 4, step 0; ..."
    std::string progress() {
        std::unique_lock lock{mutex_};
        refresh(lock, [] { return false; });
        std::vector<bool> gone;
        gone.reserve(static_cast<std::size_t>(size_));
        for (int r = 0; r < size_; ++r) gone.push_back(left_locked(r));
        return detail::progress_text(statuses_, gone);
    }

protected:
    using exchange_result = detail::exchange_result;

    virtual void send_contribution(detail::contribution mine) = 0;
    virtual void broadcast_abort(const abort_reason& why) = 0;
    virtual void request_status() = 0;
    virtual void send_leave(std::int64_t leaves) = 0;
    virtual void wake() noexcept = 0;

    // Called by the watchdog's thread.
    bool accept_abort(const abort_reason& why) {
        {
            const std::lock_guard lock{mutex_};
            if (!counts(why)) return false;
            abort_reason_ = why;
            aborted_.store(true, std::memory_order_release);
        }
        changed_.notify_all();
        wake();
        return true;
    }
    void deliver(std::int64_t number, exchange_result result) {
        {
            const std::lock_guard lock{mutex_};
            // Kept for a thread that waits for it or will do so soon: an exchange may fail before all ranks have reached it.
            const bool to_come = number >= exchanges_ && number - exchanges_ < 64;
            if (!to_come && !awaited_.contains(number)) return;
            results_[number] = std::move(result);
        }
        changed_.notify_all();
    }
    // `informed`: the change is rank 0's complete table, or this is rank 0.
    template <class Change>
    void update_statuses(Change&& change, bool informed = true) {
        {
            const std::lock_guard lock{mutex_};
            change(statuses_);
            tables_ += informed ? 1 : 0;
        }
        changed_.notify_all();
    }
    run_position mine() const { return {run_.load(std::memory_order_relaxed), step_.load(std::memory_order_relaxed)}; }
    activity current_activity() { return activity_.now(); }
    detail::call_list recent_calls() const { return calls_.recent(); }
    // `informed`: the others know the reason that ended the work.
    void attend(bool informed, bool period) {
        std::unique_lock lock{mutex_};
        if (informed && abort_reason_ && at_stop_) {
            const auto what = std::exchange(at_stop_, nullptr);
            call(lock, [&, why = *abort_reason_] { what(why); });
        }
        if (period && each_period_) call(lock, [what = each_period_] { what(); });
    }

    // A forked child has none of the threads, and locks that they held stay locked.
    bool in_forked_child() const { return ::getpid() != made_by_; }

    const control_timing timing_;

private:
    // Made and destroyed with the lock held.
    struct awaiting {
        awaiting(control_channel& of, std::int64_t n) : c{of}, number{n} { c.awaited_.insert(number); }
        awaiting(const awaiting&) = delete;
        awaiting& operator=(const awaiting&) = delete;
        ~awaiting() {
            c.awaited_.erase(number);
            c.results_.erase(number);
        }
        control_channel& c;
        const std::int64_t number;
    };
    template <class What>
    void call(std::unique_lock<std::mutex>& lock, What&& what) {
        calling_ = std::this_thread::get_id();
        lock.unlock();
        try {
            what();
        } catch (...) {}
        lock.lock();
        calling_ = std::thread::id{};
        changed_.notify_all();
    }
    // The known positions of other ranks are at least a heartbeat old: asks rank 0 for the present ones.
    template <class Over>
    void refresh(std::unique_lock<std::mutex>& lock, Over&& over) {
        const bool own = calling_ == std::this_thread::get_id();  // the watchdog itself: no other thread handles the answer
        const auto table = tables_;
        lock.unlock();
        request_status();
        lock.lock();
        if (own) return;
        changed_.wait_for(lock, std::chrono::milliseconds{500}, [&, this] { return tables_ != table || over(); });
    }
    // `here` is what this rank is doing, for the message.
    [[noreturn]] void raise_locked(const std::string& here = {}) const {
        const abort_reason c = abort_reason_.value_or(
            abort_reason{rank_, "rank " + std::to_string(rank_) + " has ended the work, without memory to say why", {}, {}, false});
        if (c.rank == rank_ && !c.by_leaving) throw operation_error{c.text, c.operation, c.statement, c.rank};
        const std::string who = "rank " + std::to_string(rank_);
        throw peer_error{who + " stops, because " + c.text + (here.empty() ? "" : "; " + who + " " + here), c.operation, c.statement,
                         c.rank};
    }
    // Only the first reason is kept, except that a rank which leaves may replace its own by the cause.
    bool counts(const abort_reason& why) const {
        return !abort_reason_ ||
               (abort_reason_->by_leaving && why.by_leaving && abort_reason_->rank == why.rank && abort_reason_->text != why.text);
    }
    bool left_locked(int rank) const { return rank != rank_ && statuses_[rank].leaves > leaves_; }
    int first_gone(std::int64_t number) const {
        for (int r = 0; r < size_; ++r)
            if (left_locked(r) && statuses_[r].exchanges <= number) return r;
        return -1;
    }

    const int rank_, size_;
    const ::pid_t made_by_ = ::getpid();
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<bool> aborted_ = false;
    std::optional<abort_reason> abort_reason_;
    std::vector<peer_status> statuses_;
    std::set<std::int64_t> awaited_;  // exchanges that a thread of this process waits for
    std::map<std::int64_t, exchange_result> results_;
    std::int64_t exchanges_ = 0, leaves_ = 0;
    std::int64_t tables_ = 0;  // number of status tables received
    std::function<void(const abort_reason&)> at_stop_;
    std::function<void()> each_period_;
    std::thread::id calling_;
    detail::announced_activity activity_;
    std::atomic<std::int64_t> run_ = -1, step_ = -1;
    detail::call_log calls_;
};

}  // namespace dovetail::control
