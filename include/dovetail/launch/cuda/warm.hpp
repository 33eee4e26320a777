// What may wait for the GPU at its first use, done before any run on memory that nobody needs: NCCL connects the ranks that
// exchange something and loads its kernels.
#pragma once

#include "perform.hpp"

namespace dovetail::cuda {

class connection_warmer {
public:
    connection_warmer(const act_table& table, context& on)
        : table_{table}, half_{ir::aligned(table.largest)}, spare_{std::make_unique<block>(on.memory, 2 * half_)} {}

    // The communication of a step, once.
    void make(int step, cudaStream_t stream) const {
        for (int a = table_.first[static_cast<std::size_t>(step)]; a < table_.first[static_cast<std::size_t>(step) + 1]; ++a) {
            const act& once = table_.acts[static_cast<std::size_t>(a)];
            if (is_nccl(once.kind))
                performer::communicate(once, stream, once.from < 0 ? nullptr : spare_->data(), once.to < 0 ? nullptr : spare_->data() + half_);
        }
    }

private:
    const act_table& table_;
    const std::int64_t half_;
    const std::unique_ptr<block> spare_;
};

}  // namespace dovetail::cuda
