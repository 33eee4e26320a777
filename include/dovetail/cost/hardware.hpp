// What executes a task.
#pragma once

namespace dovetail {

// A kernel of the rank's own on the multiprocessors, a copy engine, or a kernel of NCCL.
enum class hardware : unsigned char { multiprocessors, copy_engine, nccl };
inline constexpr int hardware_count = 3;

}  // namespace dovetail
