// The number of a thread that holds a reading, unique in the process. Not std::thread::id: its header costs more compile time than this
// library's own for a program's file.
#pragma once

#include "../linkage.hpp"

#include <cstdint>

namespace dovetail {

using thread_number = std::uint64_t;
inline constexpr thread_number no_thread = 0;

namespace launch {
thread_number this_thread_number();
}

}  // namespace dovetail

#if !defined(DOVETAIL_SEPARATE_COMPILATION)
#include "thread_number.ipp"
#endif
