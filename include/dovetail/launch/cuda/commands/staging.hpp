// Copies of input bindings from the host to the GPU. The copy stream reads pinned memory directly, including the library's own copies of
// bindings. Pageable memory is first copied to pinned memory of this class when a run is issued; so is all memory if runs are replayed,
// since a CUDA graph always reads the same addresses.
#pragma once

#include "../engine/context.hpp"

#include <cstring>

namespace dovetail::cuda {

class staging {
public:
    // Larger pageable memory is copied by the driver, which stages it piecewise while the issuing thread waits.
    static constexpr std::int64_t most_pinned = std::int64_t{64} << 20;
    static constexpr int halves = 2;

    staging(std::shared_ptr<device_memory> memory, int inputs) : memory_{std::move(memory)}, inputs_(static_cast<std::size_t>(inputs)) {}

    struct source {
        const void* data = nullptr;  // what the copy stream reads
        bool direct = false;         // ... is the bound memory itself
    };
    // Waits until input i can be prepared; `wait(run)` blocks until the copies of that run have ended.
    template <class Wait>
    void wait_for_resources(int i, const binding& b, std::int64_t bytes, std::int64_t run, bool always, Wait wait) {
        if (goes_directly(i, b, bytes, always)) return;
        const staging_buffer& p = inputs_[static_cast<std::size_t>(i)].buffers[run % halves];
        if (p.run >= 0 && !p.holds(b)) wait(p.run);
    }
    // Prepares the source of input i.
    source ready(int i, const binding& b, std::int64_t bytes, std::int64_t run, bool always) {
        if (goes_directly(i, b, bytes, always)) return {b.data, true};
        staging_buffer& p = inputs_[static_cast<std::size_t>(i)].buffers[run % halves];
        hold(p, bytes);
        p.run = run;
        if (p.holds(b)) return {p.memory.data(), false};
        std::memcpy(p.memory.data(), b.data, static_cast<std::size_t>(bytes));
        p.contents = b.contents;
        return {p.memory.data(), false};
    }
    // The source of input i in a captured run.
    const void* place(int i, std::int64_t bytes, std::int64_t run) {
        staging_buffer& p = inputs_[static_cast<std::size_t>(i)].buffers[run % halves];
        hold(p, bytes);
        return p.memory.data();
    }
    // Allocates the memory that such a binding needs.
    void reserve(int i, const binding& b, std::int64_t bytes, bool always) {
        if (!goes_directly(i, b, bytes, always))
            for (staging_buffer& p : inputs_[static_cast<std::size_t>(i)].buffers) hold(p, bytes);
    }

private:
    struct staging_buffer {
        block memory;
        std::uint64_t contents = 0;  // binding::contents of what it holds; 0: contents may change
        std::int64_t run = -1;       // the latest run that reads it

        bool holds(const binding& b) const { return b.contents != 0 && contents == b.contents; }
    };
    struct input {
        const void* last = nullptr;
        bool pinned = false;
        staging_buffer buffers[halves];
    };
    bool goes_directly(int i, const binding& b, std::int64_t bytes, bool always) {
        return !always && (b.from == binding_source::copied || bytes > most_pinned || is_pinned(i, b));
    }
    void hold(staging_buffer& p, std::int64_t bytes) {
        if (!p.memory) p.memory = block{memory_, bytes, true};
    }
    // Asked once for each pointer.
    bool is_pinned(int i, const binding& b) {
        input& in = inputs_[static_cast<std::size_t>(i)];
        if (b.data != in.last) {
            in.last = b.data;
            cudaPointerAttributes a{};
            const cudaError_t status = calls.pointer_get_attributes(&a, b.data);
            if (status != cudaSuccess) static_cast<void>(calls.get_last_error());
            in.pinned = status == cudaSuccess && a.type != cudaMemoryTypeUnregistered;
        }
        return in.pinned;
    }

    std::shared_ptr<device_memory> memory_;
    std::vector<input> inputs_;
};

}  // namespace dovetail::cuda
