// What executes a task.
#pragma once

namespace dovetail {

// The multiprocessors, also of NCCL's kernels, or a copy engine.
enum class hardware : unsigned char { multiprocessors, copy_engine };
inline constexpr int hardware_count = 2;

}  // namespace dovetail
