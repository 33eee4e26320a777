// Does the program say what the graph says? Every statement has its one vertex, whose parts touch the right buffers in
// the right way on the right roles; every communication has all its partners, and they agree.
#pragma once

#include "buffers.hpp"
#include "partners.hpp"

namespace dovetail::plan::detail {

constexpr bool refuse(verdict& bad, flaw what, int role, int vertex, int buffer = -1) {
    bad = {what, role, vertex, -1, buffer};
    return false;
}

// A statement of one role, carried out by part x; `several`: there are more. Accesses: arguments, results, scratch memory.
constexpr bool check_statement(const ir::graph& g, const ir::program& p, const ir::part* x, bool several, const ir::member* m, const ir::node* n, int v,
                               verdict& bad) {
    const int role = g.folded ? 0 : n->role;
    const op_kind kind = m->kind;
    if (m->root != n->root || kind == op_kind::transfer || kind == op_kind::input) return refuse(bad, flaw::node_mismatch, n->role, v);
    if (several) return refuse(bad, flaw::partner_missing, n->role, v);
    if (x->role != role) return refuse(bad, flaw::node_mismatch, x->role, v);
    if (is_communication(kind)) {
        if (m->communicator < 0) return refuse(bad, flaw::wrong_communicator, role, v);
        const ir::communicator* c = p.communicators.first + m->communicator;
        if (m->local || c->axes != n->axes || c->axes == 0 || c->roles != 1 || p.communicator_roles.first[c->first_role] != role)
            return refuse(bad, flaw::wrong_communicator, role, v);
    }
    const bool update = n->update;
    const int *operands = g.operands.first, *s = operands + n->first_argument, *behind = s + n->arguments;
    const int *const arguments = s, *const results = operands + n->first_result;
    const ir::access *a = p.accesses.first + x->first_access, *end = a + x->accesses;
    const ir::buffer *buffers = p.buffers.first, *b = nullptr;
    for (access_mode mode = access_mode::read; s != behind; ++s) {
        if (update) {
            mode = access_mode::read;
            if (contains({results, n->results}, *s)) {
                // as `inout` it stands once; a second mention reads it, or is left out
                if (!contains({arguments, static_cast<int>(s - arguments)}, *s))
                    mode = access_mode::update;
                else if (a == end || buffers[a->buffer].symbol != *s || buffers[a->buffer].role != role || a->mode != access_mode::read)
                    continue;
            }
        }
        if (a == end) return refuse(bad, flaw::wrong_access, role, v);
        b = buffers + a->buffer;
        if (b->symbol != *s || b->role != role || a->mode != mode) return refuse(bad, flaw::wrong_access, role, v, a->buffer);
        ++a;
    }
    if (!update && n->op->in_place_only) {
        // the launch gets argument and result as one
        const int at = n->op->in_place < 0 ? 0 : n->op->in_place, from = at < x->accesses ? p.accesses.first[x->first_access + at].buffer : -1;
        const int to = a == end ? -1 : buffers[a->buffer].alias;
        if (from < 0 || to < 0 || (to != from && to != buffers[from].alias)) return refuse(bad, flaw::alias_wrong, role, v, a == end ? -1 : a->buffer);
    }
    for (s = results, behind = results + n->results; s != behind; ++s) {
        if (update && contains({arguments, n->arguments}, *s)) continue;
        if (a == end) return refuse(bad, flaw::wrong_access, role, v);
        b = buffers + a->buffer;
        if (b->symbol != *s || b->role != role || a->mode != access_mode::write ||
            (*s >= 0 && ((b->where == ir::storage::state) != update || b->output != g.symbols.first[*s].output)))
            return refuse(bad, flaw::wrong_access, role, v, a->buffer);
        ++a;
    }
    for (; a != end; ++a)
        if (buffers[a->buffer].where != ir::storage::workspace || buffers[a->buffer].role != role || a->mode != access_mode::write)
            return refuse(bad, flaw::wrong_access, role, v, a->buffer);
    return true;
}

// Brings the caller's binding in.
constexpr verdict check_input(const ir::graph& g, const ir::program& p, const partners& all, const ir::member& m, int v) {
    int count = 0;
    bool good = m.kind == op_kind::input && m.symbol >= 0 && g.symbols.first[m.symbol].kind == ir::symbol_kind::input;
    all.each([&](const ir::part& y) {
        const ir::access* a = p.accesses.begin() + y.first_access;
        ++count;
        good = good && y.accesses == 1 && a->mode == access_mode::write && p.buffers.first[a->buffer].where == ir::storage::input &&
               p.buffers.first[a->buffer].symbol == m.symbol && p.buffers.first[a->buffer].role == y.role;
    });
    return {good && count == 1 ? flaw::none : flaw::node_mismatch, -1, v};
}

// Members of one vertex run at the same time: none may touch what another writes.
constexpr verdict check_group(const ir::program& p, const ir::vertex& x, int v, vec<int>& writer) {
    for (int pass = 0; pass < 2; ++pass)
        for (int i = x.first_part; i < x.first_part + x.parts; ++i)
            for (const ir::access& a : p.accesses.part(p.parts.first[i].first_access, p.parts.first[i].accesses)) {
                int& by = writer[a.buffer];
                if (by >= x.first_part && by < x.first_part + x.parts && by != i) return {flaw::group_dependent, p.parts.first[i].role, v, -1, a.buffer};
                if (pass == 0 && writes(a.mode)) by = i;
            }
    return {};
}

constexpr verdict check_agreement(const ir::graph& g, const ir::program& p) {
    if (const verdict bad = check_buffers(g, p); !bad) return bad;
    if (const verdict bad = check_definitions(p); !bad) return bad;
    if (g.folded)
        if (const verdict bad = check_pieces(g, p); !bad) return bad;
    // The parts of members that share a vertex are found by chains; one that has it for itself has all its parts.
    const bool sharing = p.members.count != p.vertices.count;
    common_numbers numbers{p};
    vec<int> vertex_of(g.nodes.count), writer, first_part, next_part;
    if (sharing) {
        first_part = vec<int>(p.members.count, -1);
        next_part = vec<int>(p.parts.count, -1);
    }
    int *seen = vertex_of.begin(), *first = first_part.begin(), *next = next_part.begin(), left = g.nodes.count;
    for (int i = p.parts.count - 1; i >= 0 && sharing; --i) {
        const int m = p.parts.first[i].member;
        next[i] = first[m];
        first[m] = i;
    }
    verdict bad;
    const ir::node *nodes = g.nodes.first, *n = nullptr;
    const ir::vertex* x = p.vertices.first;
    const ir::member *members = p.members.first, *m = nullptr;
    const ir::part* parts = p.parts.first;
    // Of the vertex or member at hand; declared once, because clang keeps every variable that is declared again until the function
    // ends, and looks among them all for each one that is read.
    int begin = 0, k = 0, end = 0, node = 0;
    bool only = false, several = false;
    for (int v = 0, vertices = p.vertices.count; v < vertices; ++v, ++x) {
        k = x->first_member;
        if (x->kind != members[k].kind) return {flaw::node_mismatch, -1, v};
        only = x->members == 1;
        several = x->parts > 1;
        for (end = k + x->members; k < end; ++k) {
            m = members + k;
            begin = only ? x->first_part : first[k];
            if (begin < 0) return {flaw::partner_missing, -1, v};
            node = m->node;
            if (node >= 0) {
                n = nodes + node;
                if (m->kind != n->kind || m->reduce != n->reduce || m->offset != n->offset || m->open != n->open || m->op != n->op)
                    return {flaw::node_mismatch, n->role, v};
                if (n->role >= 0) {
                    if (!check_statement(g, p, parts + begin, only ? several : next[begin] >= 0, m, n, v, bad)) return bad;
                } else if (const verdict wrong = check_collective(g, p, {parts, only ? nullptr : next, begin, x->first_part + x->parts}, *m, *n, v, numbers);
                           !wrong) {
                    return wrong;
                }
                if (seen[node] != 0) return {flaw::node_twice, -1, v, seen[node] - 1};
                seen[node] = v + 1;
                --left;
            } else {
                const partners all{parts, only ? nullptr : next, begin, x->first_part + x->parts};
                if (const verdict wrong = m->kind == op_kind::transfer ? check_transfer(g, p, all, *m, v) : check_input(g, p, all, *m, v); !wrong) return wrong;
            }
        }
        if (several) {
            if (writer.empty()) writer = vec<int>(p.buffers.count, -1);
            if (const verdict wrong = check_group(p, *x, v, writer); !wrong) return wrong;
        }
    }
    if (const int b = numbers.unasked(g); b >= 0) return {flaw::common_offset, p.buffers.first[b].role, -1, -1, b};
    for (int i = 0; left > 0 && i < g.nodes.count; ++i)
        if (seen[i] == 0) return {flaw::node_missing, nodes[i].role};
    return {};
}

}  // namespace dovetail::plan::detail
