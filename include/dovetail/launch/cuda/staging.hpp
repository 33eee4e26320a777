// Host memory bound to the inputs of an executor, on its way to the GPU. Pageable memory goes through pinned memory of our
// own, filled when a run is issued; pinned memory is read by the copy stream directly. What the library owns and has copied
// to a slot before is not copied again.
#pragma once

#include "context.hpp"

#include <cstring>

namespace dovetail::cuda {

class staging {
public:
    // Above this, pageable memory is left to the driver, which stages it piece by piece while the issuing thread waits.
    static constexpr std::int64_t most_pinned = std::int64_t{64} << 20;
    static constexpr int halves = 2;

    staging(std::shared_ptr<device_memory> memory, int inputs) : memory_{std::move(memory)}, inputs_(static_cast<std::size_t>(inputs)) {}

    struct source {
        const void* data = nullptr;  // what the copy stream reads
        bool copied = false;         // ... is ours: the caller's memory is free again
    };
    // Returns when input i can be made ready: `wait(run)` does when the copies of that run are over.
    template <class Wait>
    void make_way(int i, const binding& b, std::int64_t bytes, std::int64_t run, bool always, Wait wait) {
        if (goes_directly(looked_at(i, b), bytes, always)) return;
        const part& p = inputs_[static_cast<std::size_t>(i)].parts[run % halves];
        if (p.run >= 0 && !p.holds(b)) wait(p.run);
    }
    // Makes input i ready to be copied.
    source ready(int i, const binding& b, std::int64_t bytes, std::int64_t run, bool always) {
        input& in = looked_at(i, b);
        if (goes_directly(in, bytes, always)) return {b.data, false};
        part& p = in.parts[run % halves];
        hold(p, bytes);
        p.run = run;
        if (p.holds(b)) return {p.memory.data(), true};
        std::memcpy(p.memory.data(), b.data, static_cast<std::size_t>(bytes));
        p.owner = b.owner;
        return {p.memory.data(), true};
    }
    // Where input i of such a run is read from, for a capture.
    const void* place(int i, std::int64_t bytes, std::int64_t run) {
        part& p = inputs_[static_cast<std::size_t>(i)].parts[run % halves];
        hold(p, bytes);
        return p.memory.data();
    }
    // The memory for a binding like this one.
    void reserve(int i, const binding& b, std::int64_t bytes, bool always) {
        input& in = looked_at(i, b);
        if (!goes_directly(in, bytes, always))
            for (part& p : in.parts) hold(p, bytes);
    }

private:
    struct part {
        block memory;
        std::shared_ptr<const void> owner;  // whose contents it holds, where they cannot change
        std::int64_t run = -1;              // the latest that reads it

        bool holds(const binding& b) const { return b.owner != nullptr && owner == b.owner; }
    };
    struct input {
        const void* last = nullptr;
        bool pinned = false;
        part parts[halves];
    };
    static bool goes_directly(const input& in, std::int64_t bytes, bool always) { return !always && (in.pinned || bytes > most_pinned); }
    void hold(part& p, std::int64_t bytes) {
        if (!p.memory) p.memory = block{memory_, bytes, true};
    }
    input& looked_at(int i, const binding& b) {
        input& in = inputs_[static_cast<std::size_t>(i)];
        if (b.data != in.last) {
            in.last = b.data;
            cudaPointerAttributes a{};
            const cudaError_t status = calls.pointer_get_attributes(&a, b.data);
            if (status != cudaSuccess) static_cast<void>(calls.get_last_error());
            in.pinned = status == cudaSuccess && a.type != cudaMemoryTypeUnregistered;
        }
        return in;
    }

    std::shared_ptr<device_memory> memory_;
    std::vector<input> inputs_;
};

}  // namespace dovetail::cuda
