// Which thread holds a reading: a number that no other thread of the process gets. Not std::thread::id, whose header costs a program's
// file more than this library's own.
#pragma once

#include "linkage.hpp"

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
