// Allows one thread at a time to use an object: a second one gets an exception instead of a data race.
#pragma once

#include "../error.hpp"

#include <atomic>
#include <string>

namespace dovetail::launch {

class one_thread {
public:
    // Held while the object is used; none: nothing is. `who()` names the object: "the store of rank 1".
    class use {
    public:
        template <class Who>
        use(one_thread* of, Who who) : of_{of} {
            if (of != nullptr && of->used_.test_and_set(std::memory_order_acquire))
                throw usage_error{who() + " is used by two threads at once"};
        }
        use(const use&) = delete;
        use& operator=(const use&) = delete;
        ~use() {
            if (of_ != nullptr) of_->used_.clear(std::memory_order_release);
        }

    private:
        one_thread* of_ = nullptr;
    };

private:
    std::atomic_flag used_ = ATOMIC_FLAG_INIT;
};

// For `use`, where executors are made.
inline std::string who_makes_executors(int rank) { return "rank " + std::to_string(rank) + ", which makes an executor,"; }

}  // namespace dovetail::launch
