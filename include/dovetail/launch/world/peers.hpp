// What the ranks of a world share besides their memory: agreement before an executor is used, the failure that ends all runs, and the
// progress of each rank. `peers` is the interface; local_peers.hpp implements it for threads of one process.
#pragma once

#include "deadline.hpp"
#include "progress.hpp"

#include <functional>
#include <thread>

namespace dovetail::launch {

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
    // Compares the executor with which a rank issues its communicating run number `at`. Empty, or a text that names another rank that has
    // issued that run with another executor.
    virtual std::string call_order_mismatch(int rank, std::int64_t at, int executor) = 0;

    // The rank is about to issue its communicating run number `runs`, which is then counted. Throws if another rank issued it with
    // another executor.
    void count_call(int rank, std::int64_t& runs, int executor, const std::string& described) {
        if (const std::string wrong = call_order_mismatch(rank, runs, executor); !wrong.empty())
            throw usage_error{described + ": " + wrong};
        ++runs;
    }
    // Waits for an abort; false if there is none within the limit.
    bool aborts_within(std::chrono::nanoseconds limit) const {
        const auto until = after(limit);
        while (!aborted() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds{1});
        return aborted();
    }
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
    [[noreturn]] void raise(int rank, const activity& here = {}) const { why().raise(rank, here); }

private:
    std::atomic<bool> reported_ = false, run_lost_ = false;
};

}  // namespace dovetail::launch
