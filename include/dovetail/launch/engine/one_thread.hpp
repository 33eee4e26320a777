// Allows one thread at a time to use an object: a second one gets an exception instead of a data race.
#pragma once

#include "../error.hpp"

#include <atomic>
#include <string>

namespace dovetail::launch {

class one_thread {
public:
    // Marks the object as in use while this lives; without an object it does nothing. `what()` begins the error:
    // "the store of rank 1 is used".
    class use {
    public:
        template <class What>
        use(one_thread* of, What what) : of_{of} {
            if (of != nullptr && of->used_.test_and_set(std::memory_order_acquire)) throw usage_error{what() + " by two threads at once"};
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

// What two threads do, for `use`: make executors of one rank.
inline std::string making_executors(int rank) { return "executors of rank " + std::to_string(rank) + " are made"; }

}  // namespace dovetail::launch
