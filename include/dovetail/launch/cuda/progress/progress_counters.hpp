// The progress of a rank's GPU, readable by any thread at any time: after each communication step, its stream writes the step's number into
// pinned memory, also in a replayed graph.
#pragma once

#include "../api/stream_words.hpp"
#include "../commands/command.hpp"
#include "../engine/context.hpp"
#include "progress_word.hpp"

namespace dovetail::cuda {

class progress_counters {
public:
    explicit progress_counters(std::shared_ptr<context> on, std::string graph)
        : on_{std::move(on)},
          words_{std::make_shared<block>(on_->memory, std::int64_t{256}, true)},
          progress_{std::make_shared<launch::progress>()} {
        progress_->graph = std::move(graph);
        progress_->communication.resize(stream_count);
        progress_->words = reinterpret_cast<const std::uint32_t*>(words_->data());
        progress_->keeps = words_;
    }
    const std::shared_ptr<launch::progress>& shown() const { return progress_; }

    // Adds the next step. `nccl`: kernels of NCCL communicate, and not copy engines.
    void add(const step_name& name, int stream, bool communicates, bool nccl) {
        const int step = static_cast<int>(communicates_.size());
        communicates_.push_back(communicates && step < 0xffff);
        nccl_.push_back(nccl);
        if (communicates_.back()) progress_->communication[static_cast<std::size_t>(stream)].push_back(step);
        progress_->steps.push_back(name);
    }
    // Before any run, like the kernels of operations: behind the words of the streams.
    void load_kernel(cudaStream_t on) const {
        if (progress_word_kernel == nullptr) return;
        progress_word_kernel(on, reinterpret_cast<std::uint32_t*>(words_->data()) + stream_count, 0);
        check(calls.get_last_error(), "the launch of the kernel that writes progress");
    }
    // The run of the following steps; replayed steps have no run number.
    void begin(std::int64_t run) {
        run_word_ = static_cast<cuuint32_t>(run & 0x7fff) << 16;
        captured_ = false;
        progress_->issuing_step.store(-1, std::memory_order_relaxed);
        progress_->issuing.store(run, std::memory_order_relaxed);
    }
    // The host issues this step.
    void issues(int step) const { progress_->issuing_step.store(step, std::memory_order_relaxed); }
    // It has issued all steps of its run ...
    void issued(std::int64_t run) const {
        progress_->issued.store(run, std::memory_order_release);
        gave_up();
    }
    // ... or failed to.
    void gave_up() const { progress_->issuing.store(-1, std::memory_order_relaxed); }
    void begin_capture(stream_words& words) {
        run_word_ = 0;
        captured_ = true;
        for (int l = 0; l < stream_count; ++l)
            if (const auto& all = progress_->communication[static_cast<std::size_t>(l)]; !all.empty()) {
                write(all.front(), l, 0, words);
                words.issue(on_->streams[l]);
            }
    }
    void done(int step, int stream, stream_words& words) const {
        if (communicates_[static_cast<std::size_t>(step)]) write(step, stream, run_word_ + static_cast<cuuint32_t>(step + 1), words);
    }

private:
    // A kernel would wait, as NCCL's do, until the multiprocessors have room for it, and copies with it.
    void write(int step, int stream, cuuint32_t word, stream_words& words) const {
        const CUdeviceptr to = reinterpret_cast<CUdeviceptr>(words_->data()) + 4 * static_cast<CUdeviceptr>(stream);
        if (captured_ && nccl_[static_cast<std::size_t>(step)] && progress_word_kernel != nullptr)
            progress_word_kernel(on_->streams[stream], reinterpret_cast<std::uint32_t*>(to), word);
        else if (words.available())
            words.write(on_->streams[stream], to, word);
    }
    const std::shared_ptr<context> on_;
    const std::shared_ptr<block> words_;
    const std::shared_ptr<launch::progress> progress_;
    std::vector<bool> communicates_, nccl_;  // by step
    cuuint32_t run_word_ = 0;
    bool captured_ = false;
};

}  // namespace dovetail::cuda
