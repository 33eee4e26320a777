// What executes a task.
#pragma once

namespace dovetail {

// The multiprocessors, with a kernel of the rank's or with one of NCCL, or a copy engine.
enum class hardware : unsigned char { multiprocessors, copy_engine, nccl };
inline constexpr int hardware_count = 3;

}  // namespace dovetail
