// Numbers of threads, from 1.
#pragma once

#include "thread_number.hpp"

#include <atomic>

namespace dovetail::launch {

DOVETAIL_INLINE thread_number this_thread_number() {
    static std::atomic<thread_number> last = no_thread;
    thread_local const thread_number mine = ++last;
    return mine;
}

}  // namespace dovetail::launch
