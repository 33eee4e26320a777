// The rank of a process, between calls: for code that is called, such as an extension of PyTorch, and that keeps executors from one call to
// the next. world::hold makes it. Whatever is done with it, or with its executors, may leave the thread's current device at the rank's.
#pragma once

#include "rank.hpp"

#include <memory>

namespace dovetail::launch {
class peers;
}

namespace dovetail::cuda {

class held_rank {
public:
    held_rank(std::shared_ptr<launch::peers> among, std::unique_ptr<rank> on, std::shared_ptr<void> use);
    held_rank(held_rank&& other) noexcept;
    held_rank& operator=(held_rank&&) = delete;
    // As `end`; what that would throw is logged. While an exception unwinds the stack, the runs of the other ranks end with it.
    ~held_rank();

    // The rank, on which executors are made. Any thread may use it, one at a time. After `end`, which also ends references to it, a
    // usage_error.
    rank& operator*() const;
    rank* operator->() const { return &**this; }
    // The rank leaves the world, after its runs in flight: its executors cannot run any more, and may be destroyed later. Throws the error
    // of a run that no exception has reported.
    void end();

private:
    void leave() noexcept;

    std::shared_ptr<launch::peers> among_;
    std::unique_ptr<rank> on_;   // null: the rank has left
    std::shared_ptr<void> use_;  // destroyed when it leaves
    int index_ = 0;
    int unwinding_ = 0;  // uncaught exceptions when this was made
};

}  // namespace dovetail::cuda

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "held_rank.ipp"
#endif
