// The interface `peers` for ranks that are threads of one process.
#pragma once

#include "mismatch.hpp"
#include "peers.hpp"
#include "watchdog.hpp"

#include <array>
#include <map>

namespace dovetail::launch {

class local_peers : public peers {
public:
    // `on_change` is called after an abort and after a rank has left, by the thread that aborts or leaves.
    explicit local_peers(int size, std::function<void()> on_change = {})
        : size_{size}, ranks_(static_cast<std::size_t>(size)), on_change_{std::move(on_change)} {}

    bool one_process() const override { return true; }
    int size() const override { return size_; }
    std::vector<std::string> exchange(int rank, const std::string& what, const std::string& mine, std::chrono::nanoseconds limit) override {
        std::unique_lock lock{mutex_};
        const auto g = contribute(rank, what, mine);
        int missing = -1;
        const auto over = [&, this] {
            if (g->arrived == size_ || !g->fault.empty() || aborted()) return true;
            for (int r = 0; r < size_ && missing < 0; ++r)
                if (ranks_[r].gone && !g->here[r]) missing = r;
            return missing >= 0;
        };
        const bool in_time = changed_.wait_until(lock, launch::after(limit), over);
        if (!g->fault.empty()) throw world_error{g->fault};
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
                if (r.attending) r.attending->stop();
        }
        changed_.notify_all();
        if (on_change_) on_change_();
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
        if (on_change_) on_change_();
    }
    bool gone(int rank) const noexcept override {
        const std::lock_guard lock{mutex_};
        return ranks_[rank].gone;
    }
    void attend(int rank, std::function<void()> at_stop, std::function<void()> each_period) override {
        auto attending = std::make_unique<watchdog>(std::move(at_stop), std::move(each_period));
        const std::lock_guard lock{mutex_};
        if (aborted()) attending->stop();
        ranks_[rank].attending = std::move(attending);
    }
    void unattend(int rank) noexcept override {
        std::unique_ptr<watchdog> ended;
        const std::lock_guard lock{mutex_};
        ended = std::move(ranks_[rank].attending);
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
    std::string call_order_mismatch(int rank, std::int64_t at, int executor) override {
        // The first rank that issues run number `at` writes its entry. A rank that is behind by more runs than the table has entries is not
        // compared.
        call_slot& t = call_slots_[static_cast<std::size_t>(at) % call_slots_.size()];
        const call mine{at, rank, executor};
        std::uint64_t seen = t.first.load(std::memory_order_acquire);
        while (call{seen}.at < at)
            if (t.first.compare_exchange_weak(seen, mine.packed(), std::memory_order_acq_rel)) return {};
        const call first{seen};
        if (first.at != at || first.executor == mine.executor) return {};
        return call_order_text(at, rank, executor, first.rank, first.executor);
    }

private:
    struct rank_record {
        bool gone = false;
        std::shared_ptr<const progress> doing;
        int exchanges = 0;
        std::unique_ptr<watchdog> attending;
    };
    // Without what stands in brackets: of executors of different graphs, the comparison of their plans tells more.
    static std::string place_of(const std::string& what) { return what.substr(0, what.find(" (")); }

    struct pending_exchange {
        pending_exchange(int size, int rank, std::string at)
            : texts(static_cast<std::size_t>(size)), here(static_cast<std::size_t>(size), false), first{rank}, what{std::move(at)} {}
        std::vector<std::string> texts;
        std::vector<bool> here;
        const int first;  // rank, which is at this place of the program
        const std::string what;
        std::string fault;  // another rank is elsewhere
        int arrived = 0;
    };
    // The exchange that the rank has come to. Its text is in it.
    std::shared_ptr<pending_exchange> contribute(int rank, const std::string& what, const std::string& mine) {
        auto& open = exchanges_[ranks_[rank].exchanges++];
        if (!open) open = std::make_shared<pending_exchange>(size_, rank, what);
        std::shared_ptr<pending_exchange> g = open;
        g->texts[rank] = mine;
        g->here[rank] = true;
        if (g->fault.empty() && place_of(what) != place_of(g->what))
            g->fault = "rank " + std::to_string(rank) + " is at " + what + " where rank " + std::to_string(g->first) + " is at " + g->what;
        if (++g->arrived == size_) exchanges_.erase(ranks_[rank].exchanges - 1);
        if (g->arrived == size_ || !g->fault.empty()) changed_.notify_all();
        return g;
    }
    // That a rank issued its run number `at` with an executor, in 64 bits: 36 of the run plus one, 12 of the rank, 16 of the executor.
    struct call {
        std::int64_t at = -1;
        int rank = 0;
        int executor = 0;

        call(std::int64_t run, int of, int number) : at{run}, rank{of & 0xfff}, executor{number & 0xffff} {}
        explicit call(std::uint64_t word)
            : at{static_cast<std::int64_t>(word >> 28) - 1},
              rank{static_cast<int>(word >> 16 & 0xfff)},
              executor{static_cast<int>(word & 0xffff)} {}
        std::uint64_t packed() const {
            return static_cast<std::uint64_t>(at + 1) << 28 | static_cast<std::uint64_t>(rank) << 16 | static_cast<std::uint64_t>(executor);
        }
    };
    struct call_slot {
        std::atomic<std::uint64_t> first = 0;
    };

    const int size_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<bool> aborted_ = false;
    abort_reason abort_reason_;
    std::vector<rank_record> ranks_;
    const std::function<void()> on_change_;
    std::map<int, std::shared_ptr<pending_exchange>> exchanges_;
    std::array<call_slot, 1024> call_slots_;
};

}  // namespace dovetail::launch
