// Numbers of threads, from 1.
#pragma once

#include "thread_number.hpp"

#include <atomic>

namespace dovetail::launch {

// Not in the function: each must exist once per process, in header-only and in separate compilation.
inline std::atomic<thread_number> last_thread_number = no_thread;
inline thread_local thread_number own_thread_number = no_thread;

DOVETAIL_INLINE thread_number this_thread_number() {
    if (own_thread_number == no_thread) own_thread_number = ++last_thread_number;
    return own_thread_number;
}

}  // namespace dovetail::launch
