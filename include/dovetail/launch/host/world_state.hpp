// The shared state of the ranks of a world on the host: what threads of one process share in any world, the communications in progress,
// and the activity of each rank. Every wait here ends when the awaited ranks arrive, fail or leave.
#pragma once

#include "../world/local_peers.hpp"
#include "pending_communication.hpp"
#include "stream_worker.hpp"

#include <map>

namespace dovetail::host {

class world_state {
public:
    world_state(int size, link l) : links{l}, peers{size, [this] { wake(); }}, ranks_(static_cast<std::size_t>(size)) {}

    const link links;
    launch::local_peers peers;
    const std::chrono::steady_clock::time_point origin = std::chrono::steady_clock::now();

    void join(int rank, std::shared_ptr<monitor> m, const stream_workers& l) {
        const std::lock_guard lock{mutex_};
        ranks_[rank].signal = std::move(m);
        ranks_[rank].streams = l;
    }

    // Joins a communication as its member `mine`; the last member to join moves the data before it returns.
    std::shared_ptr<pending_communication> join_communication(const communication_key& key, const std::vector<int>& members, int mine,
                                                              const participant& s, const communication& x) {
        std::shared_ptr<pending_communication> m;
        {
            const std::lock_guard lock{mutex_};
            if (peers.aborted()) return nullptr;
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
        m.changed.wait(lock,
                       [&, this] { return m.complete || m.broken || (!m.moving && (peers.aborted() || (missing = absent(m)) >= 0)); });
        if (!m.complete) return false;
        if (links.timed()) m.changed.wait_until(lock, m.finish, [&, this] { return peers.aborted(); });
        return true;
    }

    // Explains why a rank makes no progress, following the waits from rank to rank.
    std::string stuck(int rank) const {
        std::string text;
        std::vector<bool> seen(ranks_.size(), false);
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
                text += who + (peers.gone(at) ? " has left" : " has nothing to do");
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
    };
    // The activity that explains most: a running operation before a wait for partners, and that before a wait for a stream.
    static int rank_of(activity::what w) {
        return w == activity::operation ? 3 : w == activity::partners ? 2 : w == activity::event ? 1 : 0;
    }
    int absent(const pending_communication& m) const {
        for (std::size_t i = 0; i < m.ranks.size(); ++i)
            if (!m.here[i] && peers.gone(m.ranks[i])) return m.ranks[i];
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

    mutable std::mutex mutex_;
    std::vector<rank_record> ranks_;
    std::map<communication_key, std::shared_ptr<pending_communication>> pending_;
    std::vector<std::vector<char>> scratch_;
};

}  // namespace dovetail::host
