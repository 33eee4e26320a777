// First uses that may wait for the GPU, made before any run on memory without contents. Kernels are loaded, including those that libraries
// choose by shape: loading one may wait for running kernels, and NCCL's wait for other ranks. NCCL also connects the ranks that
// communicate.
#pragma once

#include "../commands/command_runner.hpp"

namespace dovetail::cuda {

// Launches each compiled form of each operation once, on zeros: in the arena, which has no contents yet, if that is large enough.
// Operations with effects, operations on host memory, and operations whose operands do not fit are left out.
class kernel_warmer {
public:
    kernel_warmer(const command_list& list, const pointer_table& pointers, const ir::program& program, context& on, char* arena,
                  std::int64_t arena_bytes)
        : list_{list}, pointers_{pointers}, accesses_{program}, on_{on}, zeros_{arena}, room_{arena_bytes} {
        std::int64_t largest = 0;
        for (const command& a : list_.commands)
            if (a.kind == command_kind::call) largest = std::max(largest, bytes_of(a));
        if (largest <= room_) return;
        try {
            spare_ = block{on_.memory, largest};
            zeros_ = spare_.data();
            room_ = largest;
        } catch (const out_of_memory&) {}
    }
    kernel_warmer(const kernel_warmer&) = delete;
    kernel_warmer& operator=(const kernel_warmer&) = delete;
    // Called when the stream is empty. Memory as large as an operation's operands is not kept for reuse.
    ~kernel_warmer() {
        if (!spare_) return;
        spare_ = {};
        on_.memory->clear();
    }

    // Launches the operations of a step.
    void load(int step, cudaStream_t stream) {
        for (int i = list_.first[static_cast<std::size_t>(step)]; i < list_.first[static_cast<std::size_t>(step) + 1]; ++i) {
            const command& a = list_.commands[static_cast<std::size_t>(i)];
            if (a.kind == command_kind::local_reduce) local_reduction_kernel(stream, a.elements, a.how, {}, nullptr, 0);
            if (a.kind != command_kind::call || a.effect || on_host(a) || bytes_of(a) > room_) continue;
            if (std::find(loaded_.begin(), loaded_.end(), a.launch) != loaded_.end()) continue;
            loaded_.push_back(a.launch);
            check(calls.memset_async(zeros_, 0, static_cast<std::size_t>(bytes_of(a)), stream), "cudaMemsetAsync");
            std::vector<void*> at;
            cuda::stream s = a.at;
            s.handle = stream;
            char* next = zeros_;
            for (int access = a.from; access < a.from + static_cast<int>(a.count); ++access) {
                at.push_back(is_kept(access) ? pointers_.at(access) : next);
                if (access == a.to && s.workspace_bytes > 0) s.workspace = next;
                next += bytes_of(access);
            }
            static_cast<void>(calls.get_last_error());
            a.launch(s, at.data());
            check(calls.get_last_error(), "the launch");
        }
    }

private:
    // A state that is only read is passed at its own address.
    bool is_kept(int access) const {
        return accesses_.buffer_of(access).where == ir::storage::state && !writes(accesses_.program.accesses[access].mode);
    }
    bool on_host(const command& a) const {
        for (int access = a.from; access < a.from + static_cast<int>(a.count); ++access)
            if (accesses_.buffer_of(access).where == ir::storage::host) return true;
        return false;
    }
    std::int64_t bytes_of(int access) const { return is_kept(access) ? 0 : ir::aligned(accesses_.bytes_of(access)); }
    std::int64_t bytes_of(const command& a) const {
        std::int64_t sum = 0;
        for (int access = a.from; access < a.from + static_cast<int>(a.count); ++access) sum += bytes_of(access);
        return sum;
    }

    const command_list& list_;
    const pointer_table& pointers_;
    const access_table accesses_;
    context& on_;
    char* zeros_ = nullptr;
    std::int64_t room_ = 0;
    block spare_;
    std::vector<launch_function<stream>> loaded_;
};

// Performs the communication of each step once.
class connection_warmer {
public:
    connection_warmer(const command_list& list, context& on)
        : list_{list}, half_{ir::aligned(list.largest)}, spare_{std::make_unique<block>(on.memory, 2 * half_)} {}

    void make(int step, cudaStream_t stream) const {
        for (int a = list_.first[static_cast<std::size_t>(step)]; a < list_.first[static_cast<std::size_t>(step) + 1]; ++a) {
            const command& once = list_.commands[static_cast<std::size_t>(a)];
            if (is_nccl(once.kind))
                command_runner::communicate(once, stream, once.from < 0 ? nullptr : spare_->data(),
                                            once.to < 0 ? nullptr : spare_->data() + half_);
        }
    }

private:
    const command_list& list_;
    const std::int64_t half_;
    const std::unique_ptr<block> spare_;
};

}  // namespace dovetail::cuda
