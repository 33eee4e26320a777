// Are the buffers what the graph needs them to be: type, size, kind of memory and number of copies of their symbol, and one
// definition each?
#pragma once

#include "../../cost/plan_options.hpp"
#include "../plan.hpp"
#include "verdict.hpp"

namespace dovetail::plan::detail {

// Whether a symbol's buffer may lie there: as its kind demands, and an input that a transfer has brought to another role in the arena.
// Where one rank plays all roles, a buffer does not say which of the two it is; who reads it in the arena finds what the transfer wrote.
constexpr bool fits_memory(const ir::symbol& s, bool home, bool single_rank, ir::storage where) {
    switch (s.kind) {
        case ir::symbol_kind::value: return where == (s.in_host_memory ? ir::storage::host : ir::storage::arena);
        case ir::symbol_kind::input: return where == ir::storage::arena ? single_rank || !home : home && where == ir::storage::input;
        case ir::symbol_kind::state: return where == ir::storage::state;
        case ir::symbol_kind::axis_index: return where == ir::storage::constant;
    }
    return false;
}

// Bytes of a type, counted once for a row of equal types.
class type_bytes {
public:
    constexpr std::int64_t of(const tensor_type& type) {
        if (type != known_) {
            known_ = type;
            bytes_ = type.bytes();
        }
        return bytes_;
    }

private:
    tensor_type known_ = {};
    std::int64_t bytes_ = tensor_type{}.bytes();
};

// Whether the buffer of a symbol lies where the symbol may, is an output only where the symbol is one, and has no copies where no run
// has any of its own.
constexpr bool fits_symbol(const ir::graph& g, const ir::symbol& s, const ir::buffer& x) {
    return fits_memory(s, s.role < 0 || g.single_rank || s.role == x.role, g.single_rank, x.where) && (!x.output || s.output) &&
           ((x.where != ir::storage::state && x.where != ir::storage::constant) || x.slots == 1);
}

// A buffer that holds a symbol has its type, its size and the kind of memory it needs, and copies for all runs in flight where the
// caller binds or reads it. Those without a symbol are compared with the statement that writes them, see statements.hpp.
constexpr verdict check_buffers(const ir::graph& g, const ir::program& p, const plan_options& options) {
    type_bytes bytes;
    const ir::buffer* x = p.buffers.first;
    for (int b = 0, count = p.buffers.count; b < count; ++b, ++x) {
        const ir::storage where = x->where;
        if (x->symbol < 0) {
            if (x->output || (where != ir::storage::workspace && where != ir::storage::arena))
                return {flaw::wrong_storage, x->role, -1, -1, b};
            continue;
        }
        const ir::symbol& s = g.symbols.first[x->symbol];
        if (x->bytes != bytes.of(s.type) || x->type != s.type) return {flaw::wrong_storage, x->role, -1, -1, b};
        // As most are.
        if (where == ir::storage::arena && s.kind == ir::symbol_kind::value && !s.in_host_memory && !x->output) continue;
        if (!fits_symbol(g, s, *x)) return {flaw::wrong_storage, x->role, -1, -1, b};
        if ((where == ir::storage::input || x->output) && x->slots < options.in_flight) return {flaw::too_few_slots, x->role, -1, -1, b};
    }
    return {};
}

// Each leaf of a value has one definition, of a state any number.
constexpr verdict check_definitions(const ir::program& p) {
    vec<bool> defined(p.leaves.count);
    bool* seen = defined.begin();
    const ir::buffer* buffers = p.buffers.begin();
    for (const ir::access *a = p.accesses.begin(), *end = p.accesses.end(); a != end; ++a) {
        if (a->mode == access_mode::read || buffers[a->buffer].where == ir::storage::state) continue;
        for (int l = a->leaf, last = l + a->leaves; l < last; ++l) {
            if (seen[l]) return {flaw::written_twice, buffers[a->buffer].role, -1, -1, a->buffer};
            seen[l] = true;
        }
    }
    return {};
}

}  // namespace dovetail::plan::detail
