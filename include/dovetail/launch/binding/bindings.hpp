// What the inputs and outputs of one executor are bound to. Takes memory of the caller, checks it, copies what has to be copied, and gives
// each run its bindings: those of the inputs, and then those of the outputs.
#pragma once

#include "../engine/run_state.hpp"
#include "../error.hpp"
#include "../executable/buffer_addresses.hpp"
#include "bound_copies.hpp"

#include <cstring>

namespace dovetail::launch {

class bindings {
public:
    bindings(const ir::graph& g, buffer_addresses& memory, const geometry& where, int rank)
        : graph_{g}, memory_{memory}, where_{where}, rank_{rank} {
        bound_.resize(memory.bindings());
        copies_.resize(memory.inputs().size());
    }

    const std::vector<binding>& all() const { return bound_; }
    // Changes with each binding; never 0.
    std::uint64_t version() const { return version_; }
    // Gives a run its bindings, unless the run whose state it reuses had the same.
    void give_to(run_state& f) const {
        if (f.binding_version == version_) return;
        f.bound = bound_;
        f.binding_version = version_;
    }
    // Of a binding: "input `x`", "output `y`".
    std::string name(std::size_t i) const {
        return (i < inputs() ? "input " : "output ") + display_or(graph_.symbols[symbol(i)].name, "`?`");
    }

    // Binds an input by symbol; ignored if this role does not use it. A pointer that CUDA knows as device memory is used in place. For
    // `read` and `wait` see bound_copies::next; `wait` also gets the input.
    template <class Read, class Wait>
    void bind(int symbol, binding b, int in_flight, Read read, Wait wait) {
        const int i = memory_.input_of(symbol);
        if (i < 0) return;
        const std::int64_t bytes = graph_.symbols[symbol].type.bytes();
        check(b, static_cast<std::size_t>(i));
        if (memory_.usable_in_place(i) && is_on_device(static_cast<std::size_t>(i), b)) b.from = binding_source::in_place;
        if (b.in_place() && !memory_.usable_in_place(i)) b.from = binding_source::borrowed;
        if (b.from == binding_source::copied) {
            char* const to = copies_[i].next(memory_.source(), bytes, in_flight, read, [&](std::int64_t run) { wait(run, i); });
            copy(to, b.data, bytes);
            b.data = to;
            b.contents = ++copied_;
        }
        if (!b.in_place()) memory_.stage(i);
        bound_[i] = b;
        ++version_;
    }
    // Throws unless the tensor fits the input of this symbol; ignored if this role does not use it.
    void check(int symbol, const external_tensor& t) const {
        if (const int i = memory_.input_of(symbol); i >= 0) check_fits(static_cast<std::size_t>(i), t);
    }
    // Binds an output by symbol to memory that runs write: where its operations put it, or by a copy. Ignored if this rank has no such
    // output.
    void bind_output(int symbol, const external_tensor& to, bool copied) {
        const int output = memory_.output_of(symbol);
        if (output < 0) return;
        const std::size_t i = memory_.binding_of_output(output);
        const memory& own = *memory_.source();
        if (!memory_.can_be_bound(output)) refuse(i, "lies in host memory and cannot be bound: read it");
        if (type(i).size() == 0) return;
        check_fits(i, to);
        if (to.read_only) refuse(i, "is bound to a read-only tensor");
        if (own.device() >= 0) check_place(i, own.device_of(to.data));
        bound_[i] = {to.data, to.type.size(), copied ? binding_source::filled : binding_source::written};
        list_writes();
    }
    // From now on the output is in memory of the library again.
    void unbind_output(int symbol) {
        if (const int i = memory_.output_of(symbol); i >= 0) bound_[memory_.binding_of_output(i)] = {};
        list_writes();
    }
    // The memory to which outputs are bound.
    const std::vector<bound_output>& writes() const { return writes_; }
    // Throws if the memory of an output is also that of an input or of another output.
    void check_apart() const {
        for (std::size_t i = inputs(); i < bound_.size(); ++i)
            for (std::size_t k = 0; k < i; ++k)
                if ((k >= inputs() || bound_[k].of_caller()) &&
                    ranges_overlap(bound_[i].data, bytes(bound_, i), bound_[k].data, bytes(bound_, k)))
                    refuse(i, "is bound to memory to which " + name(k) + " is bound too");
    }
    // Throws if the next run would overwrite what a reading holds of one of these (run_slots).
    template <class Runs>
    void check_held(const Runs& runs) const {
        runs.for_each_run([&, this](const run_state& f) {
            for (const reading_hold& held : f.holders)
                if (const bound_output* const of = overwritten(f.writes, writes_, held.output))
                    throw usage_error{name(memory_.binding_of_output(memory_.output_of(of->symbol))) + " of run " + std::to_string(f.run) +
                                      " would be overwritten where it was bound, and a reading holds it, on " + where_.describe(rank_)};
        });
    }
    // Throws if an input that has elements is not bound.
    void check_all_bound() const {
        for (std::size_t i = 0; i < inputs(); ++i)
            if (bound_[i].from == binding_source::none && type(i).size() != 0)
                throw binding_error{name(i) + " is not bound on " + where_.describe(rank_)};
    }
    // Notes that a run was issued with the present bindings.
    void read_by(std::int64_t run) {
        for (std::size_t i = 0; i < inputs(); ++i)
            if (bound_[i].from == binding_source::copied) copies_[i].read_by(run);
    }

private:
    std::size_t inputs() const { return copies_.size(); }
    int symbol(std::size_t i) const { return i < inputs() ? memory_.inputs()[i].symbol : memory_.outputs()[i - inputs()].symbol; }
    const tensor_type& type(std::size_t i) const { return graph_.symbols[symbol(i)].type; }

    // Of the memory of the caller; 0: there is none.
    std::int64_t bytes(const std::vector<binding>& of, std::size_t i) const {
        return of[i].from == binding_source::none ? 0 : type(i).bytes();
    }

    void list_writes() {
        ++version_;
        writes_.clear();
        for (std::size_t i = inputs(); i < bound_.size(); ++i)
            if (bound_[i].from != binding_source::none)
                writes_.push_back({symbol(i), bound_[i].data, bytes(bound_, i), bound_[i].from == binding_source::written});
    }

    [[noreturn]] void refuse(std::size_t i, const std::string& why) const {
        throw binding_error{name(i) + " " + why + ", on " + where_.describe(rank_)};
    }
    void check_fits(std::size_t i, const external_tensor& t) const {
        const std::string why = detail::mismatch_of(t, type(i), memory_.source()->device());
        if (!why.empty()) refuse(i, "is bound to " + why);
    }
    void check(const binding& b, std::size_t i) const {
        const std::int64_t size = type(i).size();
        if (b.count != size) refuse(i, "is bound to " + std::to_string(b.count) + " elements and has " + std::to_string(size));
        if (b.data == nullptr && size > 0) refuse(i, "is bound to a null pointer");
    }
    // Throws unless memory in this place, -1: the host, is that of the rank.
    void check_place(std::size_t i, int place) const {
        if (const int own = memory_.source()->device(); place != own)
            refuse(i, "is bound to memory of " + detail::name_of_place(place) + ", and the rank is on " + detail::name_of_place(own));
    }
    // Whether an input is bound to memory of the rank's device; throws if it is another's. A device pointer that is bound again has been
    // looked at before.
    bool is_on_device(std::size_t i, const binding& b) const {
        if (b.in_place() && bound_[i].in_place() && b.data == bound_[i].data) return true;
        const int place = memory_.source()->device_of(b.data);
        if (place >= 0) check_place(i, place);
        return place >= 0;
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
    std::vector<binding> bound_;        // by input, then by output
    std::vector<bound_output> writes_;  // by output that is bound
    std::vector<bound_copies> copies_;  // by input
    std::uint64_t copied_ = 0;          // number of bindings copied so far
    std::uint64_t version_ = 1;
};

}  // namespace dovetail::launch
