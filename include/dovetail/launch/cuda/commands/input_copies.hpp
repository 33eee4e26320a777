// The input copies of an executor's runs: for each input that a step copies, the source of the present run. If the slot already holds the
// bound contents, nothing is copied.
#pragma once

#include "command.hpp"
#include "pointers.hpp"
#include "staging.hpp"

namespace dovetail::cuda {

class input_copies {
public:
    input_copies(std::shared_ptr<device_memory> memory, int inputs) : staging_{std::move(memory), inputs} {}

    // Registers a command that copies an input, and sets its index (`peer`) into this table.
    void add(command& a, const buffer_addresses& memory, const ir::program& program) {
        const int slots = program.buffers[program.accesses[a.to].buffer].slots;
        a.input = memory.input_of(a.input);
        inputs_.push_back({a.input, a.bytes, slots < 1 ? 1 : slots, {}});
        inputs_.back().loaded.resize(static_cast<std::size_t>(inputs_.back().slots));
        a.peer = static_cast<int>(inputs_.size()) - 1;
        from_.push_back(nullptr);
    }
    bool empty() const { return inputs_.empty(); }
    // The source of the command in the run being issued; null: nothing to copy.
    const void* from(const command& a) const { return from_[static_cast<std::size_t>(a.peer)]; }

    // Allocates the memory that such bindings need.
    void reserve(const std::vector<binding>& bound, bool replayed) {
        for (const copied_input& in : inputs_)
            if (const binding& b = bound[static_cast<std::size_t>(in.number)]; !b.in_place())
                staging_.reserve(in.number, b, in.bytes, replayed);
    }
    // Waits until a run's sources can be prepared; `wait(run)` blocks until the copies of that run have ended.
    template <class Wait>
    void wait_for_resources(std::int64_t run, const std::vector<binding>& bound, bool replayed, Wait wait) {
        for (const copied_input& in : inputs_)
            if (const binding& b = bound[static_cast<std::size_t>(in.number)]; !b.in_place() && !in.is_there(run, b, replayed))
                staging_.wait_for_resources(in.number, b, in.bytes, run, replayed, wait);
    }
    struct outcome {
        bool direct = false;  // the copy stream reads the bound memory itself
        bool in_place = false;
    };
    // Prepares a run's sources, after `wait_for_resources`.
    outcome prepare(std::int64_t run, const std::vector<binding>& bound, bool replayed) {
        outcome o;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            copied_input& in = inputs_[i];
            const binding& b = bound[static_cast<std::size_t>(in.number)];
            from_[i] = nullptr;
            if (b.in_place()) {
                o.in_place = true;
                continue;
            }
            if (in.is_there(run, b, replayed)) continue;
            const auto source = staging_.ready(in.number, b, in.bytes, run, replayed);
            from_[i] = source.data;
            in.loaded[static_cast<std::size_t>(run % in.slots)] = b.contents;
            o.direct = o.direct || source.direct;
        }
        return o;
    }
    // The same for a capture, whose replays always read the same memory.
    void capture(std::int64_t phase, const std::vector<binding>& bound) {
        for (std::size_t i = 0; i < inputs_.size(); ++i)
            from_[i] = bound[static_cast<std::size_t>(inputs_[i].number)].in_place()
                           ? nullptr
                           : staging_.place(inputs_[i].number, inputs_[i].bytes, phase);
    }

private:
    struct copied_input {
        int number = 0;
        std::int64_t bytes = 0;
        int slots = 1;
        std::vector<std::uint64_t> loaded;  // by slot: the contents that it holds (binding::contents)

        bool is_there(std::int64_t run, const binding& b, bool replayed) const {
            return !replayed && b.contents != 0 && loaded[static_cast<std::size_t>(run % slots)] == b.contents;
        }
    };
    staging staging_;
    std::vector<copied_input> inputs_;  // by command
    std::vector<const void*> from_;     // by command: the source of this run
};

}  // namespace dovetail::cuda
