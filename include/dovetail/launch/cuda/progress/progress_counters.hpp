// The progress of a rank's GPU, readable by any thread at any time: after each communication step, its stream writes the step's number into
// pinned memory, also in a replayed graph.
#pragma once

#include "../commands/command.hpp"
#include "../engine/context.hpp"

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

    // Adds the next step.
    void add(const step_name& name, int stream, bool communicates) {
        const int step = static_cast<int>(communicates_.size());
        communicates_.push_back(communicates && step < 0xffff);
        if (communicates_.back()) progress_->communication[static_cast<std::size_t>(stream)].push_back(step);
        progress_->steps.push_back(name);
    }
    // The run of the following steps; replayed steps have no run number.
    void begin(std::int64_t run) { run_word_ = static_cast<cuuint32_t>(run & 0x7fff) << 16; }
    void begin_capture() {
        run_word_ = 0;
        for (int l = 0; l < stream_count; ++l)
            if (!progress_->communication[static_cast<std::size_t>(l)].empty()) write(l, 0);
    }
    void done(int step, int stream) const {
        if (communicates_[static_cast<std::size_t>(step)]) write(stream, run_word_ + static_cast<cuuint32_t>(step + 1));
    }

private:
    void write(int stream, cuuint32_t word) const {
        if (on_->write_value != nullptr)
            check(
                on_->write_value(on_->streams[stream], reinterpret_cast<CUdeviceptr>(words_->data()) + 4 * static_cast<CUdeviceptr>(stream),
                                 word, CU_STREAM_WRITE_VALUE_DEFAULT),
                "cuStreamWriteValue32");
    }
    const std::shared_ptr<context> on_;
    const std::shared_ptr<block> words_;
    const std::shared_ptr<launch::progress> progress_;
    std::vector<bool> communicates_;
    cuuint32_t run_word_ = 0;
};

}  // namespace dovetail::cuda
