// The inputs of one executor and their bindings. Takes what the caller binds, checks it, copies it if it has to be copied, and gives each
// run its bindings.
#pragma once

#include "bound_copies.hpp"
#include "buffer_addresses.hpp"
#include "error.hpp"

#include <cstring>

namespace dovetail::launch {

class bound_inputs {
public:
    bound_inputs(const ir::graph& g, buffer_addresses& memory, const geometry& where, int rank)
        : graph_{g}, memory_{memory}, where_{where}, rank_{rank} {
        bound_.resize(memory.inputs().size());
        copies_.resize(bound_.size());
    }

    const std::vector<binding>& all() const { return bound_; }
    // "`x`"
    std::string name(int input) const {
        return display_or(graph_.symbols[memory_.inputs()[static_cast<std::size_t>(input)].symbol].name, "`?`");
    }

    // Binds an input by symbol; ignored if this role does not use it. A pointer that CUDA knows as device memory is used in place. For
    // `read` and `wait` see bound_copies::next; `wait` also gets the input.
    template <class Read, class Wait>
    void bind(int symbol, binding b, int in_flight, Read read, Wait wait) {
        const int i = memory_.input_of(symbol);
        if (i < 0) return;
        const tensor_type& type = graph_.symbols[symbol].type;
        check(b, i, type.size());
        if (!b.in_place() && memory_.usable_in_place(i) && memory_.source()->on_device(b.data)) b.from = binding_source::in_place;
        if (b.in_place() && !memory_.usable_in_place(i)) b.from = binding_source::borrowed;
        if (b.from == binding_source::copied) {
            char* const to = copies_[i].next(memory_.source(), type.bytes(), in_flight, read, [&](std::int64_t run) { wait(run, i); });
            copy(to, b.data, type.bytes());
            b.data = to;
            b.contents = ++copied_;
        }
        if (!b.in_place()) memory_.stage(i);
        bound_[i] = b;
    }
    // Throws unless the tensor fits the input of this symbol; ignored if this role does not use it.
    void check(int symbol, const external_tensor& t) const {
        const int i = memory_.input_of(symbol);
        if (i < 0) return;
        const std::string why = detail::mismatch_of(t, graph_.symbols[symbol].type, memory_.source()->device());
        if (!why.empty()) throw binding_error{"input " + name(i) + " is bound to " + why + ", on " + where_.describe(rank_)};
    }
    // Throws if an input that has elements is not bound.
    void check_all_bound() const {
        for (std::size_t i = 0; i < bound_.size(); ++i)
            if (bound_[i].from == binding_source::none && graph_.symbols[memory_.inputs()[i].symbol].type.size() != 0)
                throw binding_error{"input " + name(static_cast<int>(i)) + " is not bound on " + where_.describe(rank_)};
    }
    // Notes that a run was issued with the present bindings.
    void read_by(std::int64_t run) {
        for (std::size_t i = 0; i < bound_.size(); ++i)
            if (bound_[i].from == binding_source::copied) copies_[i].read_by(run);
    }

private:
    void check(const binding& b, int input, std::int64_t size) const {
        const std::string text = "input " + name(input) + " is bound to ", place = ", on " + where_.describe(rank_);
        if (b.count != size) throw binding_error{text + std::to_string(b.count) + " elements and has " + std::to_string(size) + place};
        if (b.data == nullptr && size > 0) throw binding_error{text + "a null pointer" + place};
    }
    void copy(char* to, const void* from, std::int64_t bytes) const {
        if (bytes == 0) return;
        if (memory_.source()->on_device(from)) return memory_.source()->to_host(to, from, bytes);
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
    }

    const ir::graph& graph_;
    buffer_addresses& memory_;
    const geometry& where_;
    const int rank_;
    std::vector<binding> bound_;        // by input
    std::vector<bound_copies> copies_;  // by input
    std::uint64_t copied_ = 0;          // number of bindings copied so far
};

}  // namespace dovetail::launch
