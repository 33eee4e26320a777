// The library's own copies of bound inputs. Takes host memory of the caller, gives memory that does not change until the runs that read it
// have done so.
#pragma once

#include "../engine/memory.hpp"

#include <cstdint>
#include <vector>

namespace dovetail {

// The copies of one input, in pinned host memory. It is allocated with the first copy and kept; a copy is overwritten only after the runs
// that read it have done so.
class bound_copies {
public:
    // An input of at most this many bytes has one copy for each run in flight and one more. A larger one has a single copy: binding it
    // again waits until the runs issued before have read it.
    static constexpr std::int64_t most_bytes_of_several = std::int64_t{64} << 20;

    // Memory for the next copy. `read(run)` tells whether a run has read its inputs; `wait(run)` blocks until it has.
    template <class Read, class Wait>
    char* next(const std::shared_ptr<memory>& source, std::int64_t bytes, int in_flight, Read read, Wait wait) {
        if (copies_.empty()) allocate(source, bytes, bytes <= most_bytes_of_several ? in_flight + 1 : 1);
        std::size_t oldest = 0;
        for (std::size_t i = 0; i < copies_.size(); ++i) {
            if (copies_[i].last_run < 0 || read(copies_[i].last_run)) return take(i);
            if (copies_[i].last_run < copies_[oldest].last_run) oldest = i;
        }
        wait(copies_[oldest].last_run);
        return take(oldest);
    }
    // Notes that a run reads the latest copy.
    void read_by(std::int64_t run) { copies_[latest_].last_run = run; }

private:
    struct copy {
        block memory;
        std::int64_t last_run = -1;  // the latest run that reads it
    };
    void allocate(const std::shared_ptr<memory>& source, std::int64_t bytes, int count) {
        std::vector<copy> made;
        made.reserve(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) made.push_back({block{source, bytes, true}});
        copies_ = std::move(made);
    }
    char* take(std::size_t i) {
        latest_ = i;
        copies_[i].last_run = -1;
        return copies_[i].memory.data();
    }

    std::vector<copy> copies_;
    std::size_t latest_ = 0;
};

}  // namespace dovetail
