// The shared state of the ranks of a world on the host: the communications in progress, the failure that ends all runs, and the activity of
// each rank. Every wait here ends when the awaited ranks arrive, fail or leave.
#pragma once

#include "../world/abort_reason.hpp"
#include "../world/plan_fingerprint.hpp"
#include "pending_communication.hpp"
#include "stream_worker.hpp"

#include <map>

namespace dovetail::host {

using launch::abort_reason;

class world_state {
public:
    world_state(int size, link l)
        : links{l},
          size_{size},
          ranks_(static_cast<std::size_t>(size)),
          executors_(static_cast<std::size_t>(size), 0),
          epochs_(static_cast<std::size_t>(size), 0) {}

    const link links;
    const std::chrono::steady_clock::time_point origin = std::chrono::steady_clock::now();
    int size() const { return size_; }

    void join(int rank, std::shared_ptr<monitor> m, const stream_workers& l) {
        const std::lock_guard lock{mutex_};
        ranks_[rank].signal = std::move(m);
        ranks_[rank].streams = l;
    }
    bool aborted() const { return aborted_.load(std::memory_order_acquire); }
    // Only the first reason is kept; all waiting threads are woken.
    void abort(abort_reason why) {
        {
            const std::lock_guard lock{mutex_};
            if (!aborted_.load(std::memory_order_relaxed) || abort_reason_.is_replaced_by(why)) abort_reason_ = std::move(why);
            aborted_.store(true, std::memory_order_release);
        }
        wake();
    }
    // Throws the reason that ended the runs, as `rank` has to see it.
    [[noreturn]] void raise(int rank) const {
        const std::lock_guard lock{mutex_};
        abort_reason_.raise(rank);
    }
    std::string why() const {
        const std::lock_guard lock{mutex_};
        return abort_reason_.text;
    }
    // Notes that the program has learnt from an exception what ended the runs.
    void report() noexcept { reported_.store(true, std::memory_order_relaxed); }
    // Called when all ranks have left: throws the reason that ended the runs unless an exception has reported it.
    void raise_unreported() const {
        if (!aborted() || reported_.load(std::memory_order_relaxed)) return;
        const std::lock_guard lock{mutex_};
        abort_reason_.raise();
    }
    // The rank takes part in no further communication.
    void leave(int rank) {
        {
            const std::lock_guard lock{mutex_};
            ranks_[rank].gone = true;
        }
        wake();
    }
    bool gone(int rank) const {
        const std::lock_guard lock{mutex_};
        return ranks_[rank].gone;
    }

    // Joins a communication as its member `mine`; the last member to join moves the data before it returns.
    std::shared_ptr<pending_communication> join_communication(const communication_key& key, const std::vector<int>& members, int mine,
                                                              const participant& s, const communication& x) {
        std::shared_ptr<pending_communication> m;
        {
            const std::lock_guard lock{mutex_};
            if (aborted_.load(std::memory_order_relaxed)) return nullptr;
            auto& found = pending_[key];
            if (!found) {
                found = std::make_shared<pending_communication>();
                found->ranks = members;
                found->here.resize(members.size());
                found->participants.resize(members.size());
            }
            m = found;
            m->participants[mine] = s;
            m->here[mine] = true;
            if (++m->arrived < static_cast<int>(members.size())) return m;
            m->moving = true;
            pending_.erase(key);
        }
        try {
            std::vector<char> scratch = take_scratch();
            move_data(x, m->participants, scratch);
            give_scratch(std::move(scratch));
        } catch (...) {  // out of memory: the other members must not wait
            {
                const std::lock_guard lock{mutex_};
                m->broken = true;
            }
            m->changed.notify_all();
            throw;
        }
        {
            const std::lock_guard lock{mutex_};
            m->complete = true;
            m->finish = std::chrono::steady_clock::now() +
                        (links.timed() ? links.time_of(wire_bytes(x, m->participants)) : std::chrono::nanoseconds{0});
        }
        m->changed.notify_all();
        return m;
    }
    // Blocks until the communication is complete and its simulated time has passed. False if it will not complete; `missing` is then a rank
    // that has left, or -1 after an abort.
    bool wait_for_completion(pending_communication& m, int& missing) {
        missing = -1;
        std::unique_lock lock{mutex_};
        m.changed.wait(lock, [&] {
            return m.complete || m.broken || (!m.moving && (aborted_.load(std::memory_order_relaxed) || (missing = absent(m)) >= 0));
        });
        if (!m.complete) return false;
        if (links.timed()) m.changed.wait_until(lock, m.finish, [&] { return aborted_.load(std::memory_order_relaxed); });
        return true;
    }

    // Every rank contributes the key of its next executor, also as text; throws on all of them if two differ. Returns the executor's
    // number.
    int check_plans(int rank, const std::string& key, const std::string& name, std::chrono::nanoseconds limit) {
        std::unique_lock lock{mutex_};
        const int number = executors_[rank]++;
        auto& slot = plan_checks_[number];
        if (!slot) slot = std::make_shared<plan_check>(size_);
        const auto a = slot;
        a->texts[rank] = key;
        const bool last = ++a->arrived == size_;
        if (last) {
            plan_checks_.erase(number);
            arrivals_.notify_all();
        }
        int missing = -1;
        const auto over = [&] {
            if (a->arrived == size_ || aborted_.load(std::memory_order_relaxed)) return true;
            for (int r = 0; r < size_ && missing < 0; ++r)
                if (ranks_[r].gone && a->texts[r].empty()) missing = r;
            return missing >= 0;
        };
        const bool in_time = arrivals_.wait_until(lock, launch::after(limit), over);
        const std::string which = "executor " + std::to_string(number) + " (" + name + ")";
        if (a->arrived < size_) {
            if (in_time && missing < 0) {
                lock.unlock();
                raise(rank);
            }
            if (missing >= 0)
                throw world_error{"rank " + std::to_string(rank) + " makes " + which + ", and rank " + std::to_string(missing) +
                                  " has left without it"};
            std::string who;
            for (int r = 0; r < size_; ++r)
                if (a->texts[r].empty()) who += (who.empty() ? "rank " : ", rank ") + std::to_string(r);
            throw timeout{"timeout: rank " + std::to_string(rank) + " makes " + which + ", and these have not come: " + who, rank};
        }
        if (const std::string mismatch = launch::mismatch(a->texts); !mismatch.empty())
            throw world_error{"the plans of executor " + std::to_string(number) + " differ: " + mismatch +
                              ". Ranks make the same executors, of the same graphs with the same options, in the same order"};
        return number;
    }
    // Runs of executors that communicate are issued in one order on all ranks; throws if this rank departs from it.
    void check_call_order(int rank, int executor, const std::string& name) {
        const std::lock_guard lock{mutex_};
        const std::int64_t at = epochs_[rank];
        call_slot& t = order_[at];
        if (t.seen == 0) t = {executor, rank, 0, name};
        if (t.executor != executor)
            throw usage_error{"executors are called in different order: run number " + std::to_string(at) + " of rank " +
                              std::to_string(rank) + " is executor " + std::to_string(executor) + " (" + name + "), of rank " +
                              std::to_string(t.rank) + " executor " + std::to_string(t.executor) + " (" + t.name + ")"};
        ++epochs_[rank];
        if (++t.seen == size_) order_.erase(at);
    }

    // Explains why a rank makes no progress, following the waits from rank to rank.
    std::string stuck(int rank) const {
        std::string text;
        std::vector<bool> seen(static_cast<std::size_t>(size_), false);
        for (int at = rank; !seen[at];) {
            seen[at] = true;
            text += text.empty() ? "" : "; ";
            activity most;
            int number = 0;
            stream_workers streams;
            {
                const std::lock_guard lock{mutex_};
                streams = ranks_[at].streams;
            }
            for (const auto& l : streams) {
                if (!l) continue;
                const activity a = l->doing();
                if (rank_of(a.doing) > rank_of(most.doing)) {
                    most = a;
                    number = l->number();
                }
            }
            const std::string who = "rank " + std::to_string(at);
            const std::string what = (most.step ? *most.step : std::string{}) + " (run " + std::to_string(most.run) + ", stream " +
                                     name_of(static_cast<stream_kind>(number)) + ")";
            if (most.doing == activity::idle) {
                text += who + (gone(at) ? " has left" : " has nothing to do");
                break;
            }
            if (most.doing == activity::operation) {
                text += who + " is in " + what;
                break;
            }
            if (most.doing == activity::event) {
                text += who + " waits for " + what;
                break;
            }
            const std::lock_guard lock{mutex_};
            std::string missing;
            int next = at;
            for (std::size_t i = 0; i < most.at->ranks.size(); ++i)
                if (!most.at->here[i]) {
                    missing += (missing.empty() ? "rank " : ", rank ") + std::to_string(most.at->ranks[i]);
                    if (next == at) next = most.at->ranks[i];
                }
            text += who + " is in " + what + (missing.empty() ? " on the wire" : " and waits for " + missing);
            at = next;
        }
        return text;
    }

private:
    struct rank_record {
        std::shared_ptr<monitor> signal;
        stream_workers streams = {};
        bool gone = false;
    };
    struct plan_check {
        explicit plan_check(int size) : texts(static_cast<std::size_t>(size)) {}
        std::vector<std::string> texts;  // by rank: "key text"; empty until it has arrived
        int arrived = 0;
    };
    struct call_slot {
        int executor = 0;
        int rank = 0;
        int seen = 0;
        std::string name;
    };
    // The activity that explains most: a running operation before a wait for partners, and that before a wait for a stream.
    static int rank_of(activity::what w) {
        return w == activity::operation ? 3 : w == activity::partners ? 2 : w == activity::event ? 1 : 0;
    }
    int absent(const pending_communication& m) const {
        for (std::size_t i = 0; i < m.ranks.size(); ++i)
            if (!m.here[i] && ranks_[m.ranks[i]].gone) return m.ranks[i];
        return -1;
    }
    void wake() {
        std::vector<std::shared_ptr<monitor>> all;
        {
            const std::lock_guard lock{mutex_};
            for (const auto& r : ranks_)
                if (r.signal) all.push_back(r.signal);
            for (const auto& [key, m] : pending_) m->changed.notify_all();
        }
        arrivals_.notify_all();
        for (const auto& m : all) m->notify();
    }
    std::vector<char> take_scratch() {
        const std::lock_guard lock{mutex_};
        if (scratch_.empty()) return {};
        auto s = std::move(scratch_.back());
        scratch_.pop_back();
        return s;
    }
    void give_scratch(std::vector<char> s) {
        const std::lock_guard lock{mutex_};
        scratch_.push_back(std::move(s));
    }

    const int size_;
    mutable std::mutex mutex_;
    std::condition_variable arrivals_;
    std::atomic<bool> aborted_ = false, reported_ = false;
    abort_reason abort_reason_;
    std::vector<rank_record> ranks_;
    std::map<communication_key, std::shared_ptr<pending_communication>> pending_;
    std::map<int, std::shared_ptr<plan_check>> plan_checks_;
    std::map<std::int64_t, call_slot> order_;
    std::vector<int> executors_;        // made so far, by rank
    std::vector<std::int64_t> epochs_;  // runs issued so far, by rank
    std::vector<std::vector<char>> scratch_;
};

}  // namespace dovetail::host
