// The progress of a rank on a GPU, as any thread of the process can read it.
#pragma once

#include "../engine/engine.hpp"
#include "abort_reason.hpp"

#include <algorithm>
#include <atomic>

namespace dovetail::launch {

// The GPU writes the number of each communication step, after the step and by stream, into pinned memory, so that
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
    std::atomic<std::int64_t> issuing = -1;       // the run of which the host issues step after step; -1: none
    std::atomic<int> issuing_step = -1;           // that step; -1: none yet

    struct position {
        std::int64_t run = 0;
        int step = -1;  // -1: no communication is open
    };
    // The oldest run that is not known to have ended, and its first communication that has not ended. The GPU may already write words of
    // the run behind the latest, which the host is issuing.
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
                const std::int64_t of = without_run ? known.run : last + 1 - ((((last + 1) & 0x7fff) - (word >> 16)) & 0x7fff);
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
    // A rank without an open communication may be in the middle of issuing a run.
    activity doing() const {
        const position open = at(), host{issuing.load(), issuing_step.load()};
        if (open.step < 0 && host.run >= 0 && host.step >= 0) return activity_at(host, "is issuing ");
        if (open.run > issued.load())
            return {"has nothing to do" +
                        std::string{graph.empty() ? "" : " in " + graph + ": it has issued " + std::to_string(open.run) + " runs"},
                    {},
                    {}};
        if (open.step < 0) return {"has ended its communication, but not a later operation" + run_text(open.run), {}, {}};
        return activity_at(open, "has not ended ");
    }
    std::string text() const { return doing().text; }

private:
    std::string run_text(std::int64_t run) const { return " (run " + std::to_string(run) + " of " + graph + ")"; }
    activity activity_at(const position& at, const char* what) const {
        const step_name& step = steps[static_cast<std::size_t>(at.step)];
        return {what + step.text() + run_text(at.run), step.operation, step.statement};
    }
};

}  // namespace dovetail::launch
