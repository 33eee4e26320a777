// What the ranks of a world share besides their GPUs: agreement before an executor is used, the failure that ends all runs, and the
// progress of each rank. `peers` is the interface; `local_peers` implements it for threads of one process.
#pragma once

#include "../engine.hpp"
#include "abort_reason.hpp"
#include "watchdog.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace dovetail::launch {

// The progress of a rank. Its GPU writes the number of each communication step, after the step and by stream, into pinned memory, so that
// any thread can read it at any time, also while a CUDA graph is replayed.
struct progress {
    std::string graph;
    std::vector<step_name> steps;
    std::vector<std::vector<int>> communication;  // by stream: the communicating steps, in order
    const std::uint32_t* words = nullptr;         // by stream: run % 32768 * 65536 + step + 1
    std::shared_ptr<void> keeps;                  // owns the memory of `words`
    std::atomic<std::int64_t> issued = -1;        // the latest run
    std::atomic<std::int64_t> ended = -1;         // the latest run known to have ended
    std::atomic<bool> replayed = false;           // the words contain no run number

    struct position {
        std::int64_t run = 0;
        int step = -1;  // -1: no communication is open
    };
    // The oldest run that is not known to have ended, and its first communication that has not ended.
    position at() const {
        const std::int64_t last = issued.load();
        const position known{ended.load() + 1, -1};
        const std::vector<std::uint32_t> said = read();
        const bool without_run = replayed.load();
        position first{last + 1, -1};
        for (std::size_t l = 0; l < said.size() && known.run <= last; ++l) {
            if (communication[l].empty()) continue;
            std::int64_t run = known.run;
            int done = -1;
            if (const std::uint32_t word = said[l]; word != 0) {
                const std::int64_t of = without_run ? known.run : last - (((last & 0x7fff) - (word >> 16)) & 0x7fff);
                if (of >= known.run) {
                    run = of;
                    done = static_cast<int>(word & 0xffffu) - 1;
                }
            }
            const auto next = std::upper_bound(communication[l].begin(), communication[l].end(), done);
            if (next == communication[l].end() && without_run) continue;
            const position open = next == communication[l].end() ? position{run + 1, communication[l].front()} : position{run, *next};
            if (open.run <= last && (first.step < 0 || std::pair{open.run, open.step} < std::pair{first.run, first.step})) first = open;
        }
        return first.step < 0 ? known : first;
    }
    // A copy of the words; the GPU may write them meanwhile.
    std::vector<std::uint32_t> read() const {
        std::vector<std::uint32_t> all;
        for (std::size_t l = 0; words != nullptr && l < communication.size(); ++l)
            all.push_back(__atomic_load_n(words + l, __ATOMIC_RELAXED));
        return all;
    }
    activity doing() const {
        const position open = at();
        if (open.run > issued.load())
            return {"has nothing to do" +
                        std::string{graph.empty() ? "" : " in " + graph + ": it has issued " + std::to_string(open.run) + " runs"},
                    {},
                    {}};
        const std::string of = " (run " + std::to_string(open.run) + " of " + graph + ")";
        if (open.step < 0) return {"has ended its communication, but not a later operation" + of, {}, {}};
        const step_name& step = steps[static_cast<std::size_t>(open.step)];
        return {"has not ended " + step.text() + of, step.operation, step.statement};
    }
    std::string text() const { return doing().text; }
};

class peers {
public:
    virtual ~peers() = default;
    // When this object was made; the same moment for all ranks of one process.
    const std::chrono::steady_clock::time_point made = std::chrono::steady_clock::now();
    virtual bool one_process() const { return false; }
    virtual int size() const = 0;
    // Every rank contributes a text at the same place of its program; all get the texts of all ranks, by rank. A timeout names the missing
    // ranks. Returns early, with an exception, after an abort.
    virtual std::vector<std::string> exchange(int rank, const std::string& what, const std::string& mine,
                                              std::chrono::nanoseconds limit) = 0;
    // Only the first reason is kept. May be called from any thread.
    virtual void abort(const abort_reason& why) = 0;
    virtual bool aborted() const noexcept = 0;
    virtual abort_reason why() const = 0;
    // The rank ends and takes part in nothing any more.
    virtual void leave(int rank) noexcept = 0;
    virtual bool gone(int rank) const noexcept = 0;
    // Registers callbacks on a thread that a blocked rank cannot delay, until `unattend`: `at_stop` is called once, when the work of all
    // ranks has ended; `each_period` a few times per second.
    virtual void attend(int rank, std::function<void()> at_stop, std::function<void()> each_period) = 0;
    virtual void unattend(int rank) noexcept = 0;
    // From now on, the rank's progress is read from `p`.
    virtual void watch(int rank, std::shared_ptr<const progress> p) = 0;
    // The activity of all ranks: "rank 0 has not ended operation `all_reduce` of `z` (run 3); rank 1 ..."
    virtual std::string describe() const = 0;
    // Checks that all ranks issue their communicating runs in the same order. Empty, or a text that names the executor of another rank's
    // run number `at`, which differs.
    virtual std::string call_order_mismatch(int rank, std::int64_t at, int executor, const engine& of) = 0;

    // Notes that the program has learnt from an exception what ended the runs.
    void report() noexcept { reported_.store(true, std::memory_order_relaxed); }
    // Notes that an executor of this process was destroyed although a run that it had issued did not end without an error.
    void lose_run() noexcept { run_lost_.store(true, std::memory_order_relaxed); }
    // Called when the ranks of this process have left: throws the reason that ended their runs unless an exception has reported it. Runs of
    // other processes are reported there.
    void raise_unreported(int rank) const {
        if (!aborted() || reported_.load(std::memory_order_relaxed)) return;
        const abort_reason c = why();
        if (one_process() || c.rank == rank) c.raise();
        if (run_lost_.load(std::memory_order_relaxed)) raise(rank);
    }

    // Throws the reason that ended the runs, as `rank` has to see it; `here` is what the rank was doing.
    [[noreturn]] void raise(int rank, const activity& here = {}) const {
        const abort_reason c = why();
        if (c.rank == rank && !c.by_leaving) throw operation_error{c.text, c.operation, c.statement, c.rank, c.what};
        const std::string who = "rank " + std::to_string(rank);
        const bool named = !c.operation.empty();
        throw peer_error{who + " stops, because " + c.text + (here.text.empty() ? "" : "; " + who + " " + here.text),
                         named ? c.operation : here.operation, named ? c.statement : here.statement, c.rank, c.what};
    }

private:
    std::atomic<bool> reported_ = false, run_lost_ = false;
};

class local_peers final : public peers {
public:
    explicit local_peers(int size) : size_{size}, ranks_(static_cast<std::size_t>(size)) {}

    bool one_process() const override { return true; }
    int size() const override { return size_; }
    std::vector<std::string> exchange(int rank, const std::string& what, const std::string& mine, std::chrono::nanoseconds limit) override {
        std::unique_lock lock{mutex_};
        auto& open = exchanges_[ranks_[rank].exchanges++];
        if (!open) open = std::make_shared<pending_exchange>(size_);
        const auto g = open;
        g->texts[rank] = mine;
        g->here[rank] = true;
        if (++g->arrived == size_) {
            exchanges_.erase(ranks_[rank].exchanges - 1);
            changed_.notify_all();
        }
        int missing = -1;
        const auto over = [&] {
            if (g->arrived == size_ || aborted()) return true;
            for (int r = 0; r < size_ && missing < 0; ++r)
                if (ranks_[r].gone && !g->here[r]) missing = r;
            return missing >= 0;
        };
        const bool in_time = changed_.wait_until(lock, launch::after(limit), over);
        if (g->arrived == size_) return g->texts;
        if (in_time && missing < 0) {
            lock.unlock();
            raise(rank, {"waits for all ranks at " + what, {}, {}});
        }
        if (missing >= 0)
            throw world_error{"rank " + std::to_string(rank) + " waits for all ranks at " + what + ", and rank " + std::to_string(missing) +
                              " has left"};
        std::string who;
        for (int r = 0; r < size_; ++r)
            if (!g->here[r]) who += (who.empty() ? "rank " : ", rank ") + std::to_string(r);
        throw timeout{"timeout: rank " + std::to_string(rank) + " waits for all ranks at " + what + ", and these have not come: " + who,
                      rank};
    }
    void abort(const abort_reason& why) override {
        {
            const std::lock_guard lock{mutex_};
            if (!aborted_.load(std::memory_order_relaxed) || abort_reason_.is_replaced_by(why)) abort_reason_ = why;
            aborted_.store(true, std::memory_order_release);
            for (const rank_record& r : ranks_)
                if (r.dog) r.dog->stop();
        }
        changed_.notify_all();
    }
    bool aborted() const noexcept override { return aborted_.load(std::memory_order_acquire); }
    abort_reason why() const override {
        const std::lock_guard lock{mutex_};
        return abort_reason_;
    }
    void leave(int rank) noexcept override {
        {
            const std::lock_guard lock{mutex_};
            ranks_[rank].gone = true;
            ranks_[rank].doing = nullptr;
        }
        changed_.notify_all();
    }
    bool gone(int rank) const noexcept override {
        const std::lock_guard lock{mutex_};
        return ranks_[rank].gone;
    }
    void attend(int rank, std::function<void()> at_stop, std::function<void()> each_period) override {
        auto dog = std::make_unique<watchdog>(std::move(at_stop), std::move(each_period));
        const std::lock_guard lock{mutex_};
        if (aborted()) dog->stop();
        ranks_[rank].dog = std::move(dog);
    }
    void unattend(int rank) noexcept override {
        std::unique_ptr<watchdog> dog;
        const std::lock_guard lock{mutex_};
        dog = std::move(ranks_[rank].dog);
    }
    void watch(int rank, std::shared_ptr<const progress> p) override {
        const std::lock_guard lock{mutex_};
        ranks_[rank].doing = std::move(p);
    }
    std::string describe() const override {
        const std::lock_guard lock{mutex_};
        std::string text;
        for (int r = 0; r < size_; ++r) {
            const auto& at = ranks_[r];
            text += (r > 0 ? "; rank " : "rank ") + std::to_string(r) + " " +
                    (at.gone    ? "has left"
                     : at.doing ? at.doing->text()
                                : "has issued nothing");
        }
        return text;
    }
    std::string call_order_mismatch(int rank, std::int64_t at, int executor, const engine& of) override {
        // The first rank that issues run number `at` writes the entry. The table has as many entries as ranks can be apart, so an entry is
        // free again before it is reused.
        call_slot& t = call_slots_[static_cast<std::size_t>(at) % call_slots_.size()];
        const std::uint64_t mine = (static_cast<std::uint64_t>(at + 1) << 16) | static_cast<std::uint64_t>(executor & 0xffff);
        std::uint64_t seen = t.of.load(std::memory_order_acquire);
        while ((seen >> 16) < static_cast<std::uint64_t>(at + 1))
            if (t.of.compare_exchange_weak(seen, mine, std::memory_order_acq_rel)) return {};
        if ((seen >> 16) != static_cast<std::uint64_t>(at + 1) || seen == mine) return {};
        return "executors are called in different order: run number " + std::to_string(at) + " of rank " + std::to_string(rank) +
               " is executor " + std::to_string(executor) + " (" + of.described() + "), of another rank executor " +
               std::to_string(seen & 0xffff);
    }

private:
    struct rank_record {
        bool gone = false;
        std::shared_ptr<const progress> doing;
        int exchanges = 0;
        std::unique_ptr<watchdog> dog;
    };
    struct pending_exchange {
        explicit pending_exchange(int size) : texts(static_cast<std::size_t>(size)), here(static_cast<std::size_t>(size), false) {}
        std::vector<std::string> texts;
        std::vector<bool> here;
        int arrived = 0;
    };
    struct call_slot {
        std::atomic<std::uint64_t> of = 0;
    };

    const int size_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<bool> aborted_ = false;
    abort_reason abort_reason_;
    std::vector<rank_record> ranks_;
    std::map<int, std::shared_ptr<pending_exchange>> exchanges_;
    std::array<call_slot, 1024> call_slots_;
};

}  // namespace dovetail::launch
