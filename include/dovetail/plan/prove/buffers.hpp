// Are the buffers what the graph needs them to be: type, size and kind of memory of their symbol, and one definition each?
#pragma once

#include "../plan.hpp"
#include "verdict.hpp"

namespace dovetail::plan::detail {

// Equality in few expressions: hardly any tensor has more than two extents.
constexpr bool alike(const tensor_type& a, const tensor_type& b) {
    return (a.type == b.type && a.rank == b.rank && a.rank <= 2 && a.extent[0] == b.extent[0] && a.extent[1] == b.extent[1]) || a == b;
}

// A buffer that holds a symbol has its type, its size and the kind of memory it needs.
constexpr verdict check_buffers(const ir::graph& g, const ir::program& p) {
    tensor_type known;  // sizes are counted once for a row of equal types
    std::int64_t known_bytes = 0;
    for (int b = 0; b < p.buffers.count; ++b) {
        const ir::buffer& x = p.buffers.first[b];
        if (x.symbol < 0) {
            // scratch memory, or a result that nobody wants
            if (x.where == ir::storage::workspace || (x.where == ir::storage::arena && !x.output)) continue;
            return {flaw::wrong_storage, x.role, -1, -1, b};
        }
        const ir::symbol& s = g.symbols.first[x.symbol];
        const bool home = s.role < 0 || g.folded || s.role == x.role;
        if (!alike(s.type, known)) {
            known = s.type;
            known_bytes = s.type.bytes();
        }
        bool fits = x.bytes >= known_bytes && alike(x.type, s.type);
        switch (s.kind) {
            case ir::symbol_kind::value: fits = fits && (x.where == ir::storage::host ? s.in_host_memory : x.where == ir::storage::arena); break;
            case ir::symbol_kind::input: fits = fits && (x.where == ir::storage::input || (x.where == ir::storage::arena && (!home || g.folded))); break;
            case ir::symbol_kind::state: fits = fits && (x.where == ir::storage::arena ? !home || g.folded : x.where == ir::storage::state && home); break;
            case ir::symbol_kind::lane_index:
                fits = fits && (x.where == ir::storage::constant || (x.where == ir::storage::arena && (!home || g.folded)));
                break;
        }
        if (!fits || (x.where == ir::storage::state && (x.slots != 1 || x.alias >= 0))) return {flaw::wrong_storage, x.role, -1, -1, b};
    }
    return {};
}

// Values have one definition, in the mode `write`; states are read and updated, constants read.
constexpr verdict check_definitions(const ir::program& p) {
    vec<char> defined(p.buffers.count);
    char* seen = defined.begin();
    const ir::buffer* buffers = p.buffers.begin();
    for (const ir::access& a : p.accesses) {
        if (a.mode == access_mode::read || buffers[a.buffer].where == ir::storage::state) continue;
        if (a.mode == access_mode::update || buffers[a.buffer].where == ir::storage::constant)
            return {flaw::wrong_access, buffers[a.buffer].role, -1, -1, a.buffer};
        if (seen[a.buffer]++ != 0) return {flaw::written_twice, buffers[a.buffer].role, -1, -1, a.buffer};
    }
    return {};
}

}  // namespace dovetail::plan::detail
