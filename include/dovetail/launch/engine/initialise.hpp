// Initialisation of the states of a new executor that no other executor has initialised. A state that runs write before they read it has no
// value before the first of them.
#pragma once

#include "../executable/executable_plan.hpp"
#include "../world/abort_reason.hpp"
#include "engine.hpp"

namespace dovetail::launch {

// `call(initialiser, pointers)` blocks until the state is written. If it throws, `abort(reason)` ends the runs of all ranks.
template <class Stream, class Call, class Abort>
void initialise_states(const engine& of, const executable_plan<Stream>& from, Call call, Abort abort) {
    const auto& store = of.addresses.store();
    for (const auto& s : of.addresses.states()) {
        const bool supplied = s.symbol < from.from_store.size() && from.from_store[s.symbol];
        const auto first = s.symbol < from.initialisers.size() ? from.initialisers[s.symbol] : nullptr;
        if (!store->adopt(*s.stored, supplied || (s.written_first && first == nullptr))) continue;
        void* const at[] = {s.stored->where.data()};
        try {
            if (first != nullptr) call(first, at);
        } catch (...) {
            const auto what = std::current_exception();
            const std::string name = of.symbol_name(s.symbol);
            const std::string text =
                "the initialiser of state `" + name + "` failed on " + of.where.describe(of.rank) + ": " + text_of(what);
            abort(abort_reason{of.rank, text, "initialiser", name, false, what});
            throw operation_error{text, "initialiser", name, of.rank, what};
        }
        store->initialised(*s.stored);
    }
}

}  // namespace dovetail::launch
