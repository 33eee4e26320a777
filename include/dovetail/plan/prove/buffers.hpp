// Are the buffers what the graph needs them to be: type, size and kind of memory of their symbol, and one definition each?
#pragma once

#include "../plan.hpp"
#include "verdict.hpp"

namespace dovetail::plan::detail {

// A buffer that holds a symbol has its type, its size and the kind of memory it needs.
constexpr verdict check_buffers(const ir::graph& g, const ir::program& p) {
    const ir::symbol* symbols = g.symbols.first;
    tensor_type known;  // sizes are counted once for a row of equal types
    std::int64_t known_bytes = 0;
    // Of the buffer at hand; declared once, see check_agreement.
    const ir::buffer* x = p.buffers.first;
    const ir::symbol* s = nullptr;
    const tensor_type* type = nullptr;
    ir::storage where{};
    bool home = false, fits = false;
    for (int b = 0, count = p.buffers.count; b < count; ++b, ++x) {
        where = x->where;
        if (x->symbol < 0) {
            // scratch memory, or a result that nobody wants
            if (where == ir::storage::workspace || (where == ir::storage::arena && !x->output)) continue;
            return {flaw::wrong_storage, x->role, -1, -1, b};
        }
        s = symbols + x->symbol;
        home = s->role < 0 || g.folded || s->role == x->role;
        // In few expressions: hardly any tensor has more than two extents.
        type = &s->type;
        if (type->type != known.type || type->rank != known.rank || type->extent[0] != known.extent[0] || type->extent[1] != known.extent[1] ||
            (type->rank > 2 && *type != known)) {
            known = *type;
            known_bytes = known.bytes();
        }
        type = &x->type;
        fits = x->bytes >= known_bytes && type->type == known.type && type->rank == known.rank && type->extent[0] == known.extent[0] &&
               type->extent[1] == known.extent[1] && (known.rank <= 2 || *type == known);
        switch (s->kind) {
            case ir::symbol_kind::value: fits = fits && (where == ir::storage::host ? s->in_host_memory : where == ir::storage::arena); break;
            case ir::symbol_kind::input: fits = fits && (where == ir::storage::input || (where == ir::storage::arena && (!home || g.folded))); break;
            case ir::symbol_kind::state: fits = fits && (where == ir::storage::arena ? !home || g.folded : where == ir::storage::state && home); break;
            case ir::symbol_kind::lane_index: fits = fits && (where == ir::storage::constant || (where == ir::storage::arena && (!home || g.folded))); break;
        }
        if (!fits || (where == ir::storage::state && (x->slots != 1 || x->alias >= 0))) return {flaw::wrong_storage, x->role, -1, -1, b};
    }
    return {};
}

// Values have one definition, in the mode `write`; states are read and updated, constants read.
constexpr verdict check_definitions(const ir::program& p) {
    vec<bool> defined(p.buffers.count);
    bool* seen = defined.begin();
    const ir::buffer* buffers = p.buffers.begin();
    int b = 0;
    ir::storage where{};
    for (const ir::access *a = p.accesses.begin(), *end = p.accesses.end(); a != end; ++a) {
        if (a->mode == access_mode::read) continue;
        b = a->buffer;
        where = buffers[b].where;
        if (where == ir::storage::state) continue;
        if (a->mode == access_mode::update || where == ir::storage::constant) return {flaw::wrong_access, buffers[b].role, -1, -1, b};
        if (seen[b]) return {flaw::written_twice, buffers[b].role, -1, -1, b};
        seen[b] = true;
    }
    return {};
}

}  // namespace dovetail::plan::detail
