// expand: from what the user wrote to what ranks do. Channels become transfers, inputs become vertices on the copy lane of
// every role that uses them, values get a buffer on each role that holds them, collectives get their members.
// Takes a checked graph, gives the program; a vertex's place among the vertices is that of its first use as written.
// Long: buffers and the vertices that bring values into them make each other.
#pragma once

#include "../cost/transport.hpp"
#include "../ir/program.hpp"
#include "../ir/table.hpp"

namespace dovetail::pass {

namespace detail {

class expansion {
public:
    constexpr expansion(const ir::graph& g, const expansion_settings& s)
        : g_{g}, s_{s}, home_(g.symbols.size() * g.roles.size(), -1), readers_(g.symbols.size()) {
        program_.roles = g.folded ? 1 : g.roles.size();
        const int symbols = g.symbols.count, nodes = g.nodes.count;
        program_.buffers.reserve(symbols);
        program_.accesses.reserve(g.operands.count + symbols - nodes);
        program_.parts.reserve(symbols);
        program_.members.reserve(symbols);
        program_.vertices.reserve(symbols);
        int bundles = 0;
        int* readers = readers_.begin();
        for (const ir::node *n = g.nodes.begin(), *last = n + nodes; n != last; ++n) {
            if (n->bundle >= bundles) bundles = n->bundle + 1;
            for (const int *a = g.operands.first + n->first_argument, *end = a + n->arguments; a != end; ++a) ++readers[*a];
        }
        bundle_ = vec<int>(bundles, -1);
    }

    constexpr ir::program_data run() {
        for (int i = 0; i < g_.nodes.count; ++i) {
            const int bundle = g_.nodes.first[i].bundle;
            if (bundle < 0)
                one(i);
            else if (bundle_[bundle] < 0)
                several(i);
        }
        settle_aliases();
        return static_cast<ir::program_data&&>(program_);
    }

private:
    constexpr span<const int> arguments(const ir::node& n) const { return g_.operands.part(n.first_argument, n.arguments); }
    constexpr int rank_of(int role) const { return g_.folded ? 0 : role; }

    // ---- buffers

    // What every role has for itself, an input or a lane index, a folded graph has once.
    constexpr int& place_of(int symbol, int role) {
        const bool once = g_.folded && g_.symbols.first[symbol].role < 0 && g_.symbols.first[symbol].node < 0;
        return home_.begin()[symbol * g_.roles.count + (once ? 0 : role)];
    }

    constexpr int make_buffer(int symbol, int role, ir::storage where) {
        const ir::symbol& y = g_.symbols[symbol];
        ir::buffer b;
        b.where = where == ir::storage::arena && y.in_host_memory ? ir::storage::host : where;
        b.role = rank_of(role);
        b.symbol = symbol;
        b.type = y.type;
        b.bytes = y.type.bytes();
        if (where == ir::storage::input) b.slots = s_.in_flight;
        if (y.output && y.kind == ir::symbol_kind::value && lives_on(y, role)) {
            b.output = true;
            b.slots = s_.in_flight;
        }
        program_.buffers.push(b);
        return place_of(symbol, role) = program_.buffers.size() - 1;
    }

    // The role a value comes from when another reads it.
    constexpr int source_role(const ir::symbol& y) const { return y.role >= 0 ? y.role : g_.operands[g_.nodes[y.node].first_target]; }

    constexpr bool lives_on(const ir::symbol& y, int role) const {
        if (y.role >= 0) return y.role == role;
        if (y.node < 0) return true;
        const ir::node& n = g_.nodes[y.node];
        for (int t : g_.operands.part(n.first_target, n.targets))
            if (t == role) return true;
        return false;
    }

    // The buffer that holds a symbol on a role, with the vertex that brings it there where one is needed.
    constexpr int buffer_on(int symbol, int role) {
        if (place_of(symbol, role) >= 0) return place_of(symbol, role);
        const ir::symbol& y = g_.symbols[symbol];
        if (!lives_on(y, role)) return transfer(symbol, role);
        switch (y.kind) {
            case ir::symbol_kind::lane_index: return make_buffer(symbol, role, ir::storage::constant);
            case ir::symbol_kind::state: return make_buffer(symbol, role, ir::storage::state);
            case ir::symbol_kind::value: return make_buffer(symbol, role, ir::storage::arena);
            case ir::symbol_kind::input: break;
        }
        const int b = make_buffer(symbol, role, ir::storage::input);
        begin_vertex(op_kind::input, lane_kind::copy);
        ir::member m;
        m.kind = op_kind::input;
        m.symbol = symbol;
        add_member(m);
        begin_part(role, 0);
        touch(b, access_mode::write);
        return b;
    }

    // A peer copy reads the sender's arena, whose offsets the receiver knows; other memory can move from run to run.
    constexpr lane_kind lane_of_transfer(const ir::buffer& from) const {
        if (g_.folded) return lane_kind::compute;
        return from.where == ir::storage::arena && from.bytes >= s_.peer_copies_from ? lane_kind::copy : lane_kind::communication;
    }

    constexpr int transfer(int symbol, int role) {
        const int from_role = source_role(g_.symbols[symbol]);
        const int from = buffer_on(symbol, from_role);
        const int to = make_buffer(symbol, role, ir::storage::arena);
        if (!g_.folded) program_.buffers[to].slots = s_.channel_slots;
        begin_vertex(op_kind::transfer, lane_of_transfer(program_.buffers[from]));
        ir::member m;
        m.kind = op_kind::transfer;
        m.symbol = symbol;
        m.local = g_.folded;
        const int roles[] = {from_role, role};
        m.communicator = g_.folded ? -1 : communicator(0, {roles, 2});
        add_member(m);
        const bool sender_first = from_role < role;
        for (int k = 0; k < 2; ++k) {
            const bool sender = (k == 0) == sender_first;
            begin_part(sender ? from_role : role, sender ? 0 : 1);
            touch(sender ? from : to, sender ? access_mode::read : access_mode::write);
        }
        return to;
    }

    // ---- vertices

    constexpr void begin_vertex(op_kind kind, lane_kind lane) { program_.vertices.push({program_.parts.size(), 0, program_.members.size(), 0, lane, kind}); }
    constexpr void add_member(const ir::member& m) {
        program_.members.push(m);
        ++program_.vertices.back().members;
    }
    constexpr void begin_part(int role, int seat, int member = -1) {
        program_.parts.push({rank_of(role), member < 0 ? program_.members.size() - 1 : member, seat, program_.accesses.size(), 0});
        ++program_.vertices.back().parts;
    }
    constexpr void touch(int buffer, access_mode mode) {
        program_.accesses.push({buffer, mode});
        ++program_.parts.back().accesses;
    }

    constexpr int communicator(unsigned axes, span<const int> roles) {
        for (int c = 0; c < program_.communicators.size(); ++c) {
            const ir::communicator& k = program_.communicators[c];
            bool same = k.axes == axes && k.roles == roles.size();
            for (int i = 0; same && i < k.roles; ++i) same = program_.communicator_roles[k.first_role + i] == roles[i];
            if (same) return c;
        }
        program_.communicators.push({axes, program_.communicator_roles.size(), roles.size()});
        for (int r : roles) program_.communicator_roles.push(r);
        return program_.communicators.size() - 1;
    }

    static constexpr lane_kind lane_of(op_kind k) {
        if (k == op_kind::to_host || k == op_kind::from_host) return lane_kind::copy;
        return is_communication(k) ? lane_kind::communication : lane_kind::compute;
    }

    // Buffers of the arguments first: that may add vertices of their own.
    constexpr void bring_arguments(const ir::node& n) {
        for (int a : arguments(n)) buffer_on(a, n.role >= 0 ? n.role : g_.symbols[a].role);
    }

    constexpr void one(int i) {
        const ir::node& n = g_.nodes[i];
        bring_arguments(n);
        begin_vertex(n.kind, n.role < 0 && g_.folded ? lane_kind::compute : lane_of(n.kind));
        add_member(member_of(i));
        if (n.role >= 0)
            local_part(i, program_.members.size() - 1);
        else
            seats(i, program_.members.size() - 1, -1);
    }

    // An NCCL group: the members of the vertex are all its collectives, and each role's parts stand together.
    constexpr void several(int first) {
        const int bundle = g_.nodes[first].bundle;
        bundle_[bundle] = program_.vertices.size();
        for (int i = first; i < g_.nodes.size(); ++i)
            if (g_.nodes[i].bundle == bundle) bring_arguments(g_.nodes[i]);
        const bool over_roles = g_.nodes[first].role < 0;
        begin_vertex(g_.nodes[first].kind, over_roles && g_.folded ? lane_kind::compute : lane_kind::communication);
        vec<int> nodes;
        for (int i = first; i < g_.nodes.size(); ++i)
            if (g_.nodes[i].bundle == bundle) {
                nodes.push(i);
                add_member(member_of(i));
            }
        const int base = program_.members.size() - nodes.size();
        for (int role = 0; role < g_.roles.size(); ++role)
            for (int k = 0; k < nodes.size(); ++k) {
                const ir::node& n = g_.nodes[nodes[k]];
                if (n.role == role)
                    local_part(nodes[k], base + k);
                else if (n.role < 0)
                    seats(nodes[k], base + k, role);
            }
    }

    constexpr ir::member member_of(int i) {
        const ir::node& n = g_.nodes[i];
        ir::member m;
        m.kind = n.kind;
        m.op = n.op;
        m.node = i;
        m.symbol = g_.operands[n.first_result];
        m.reduce = n.reduce;
        m.root = n.root;
        m.offset = n.offset;
        m.open = n.open;
        if (!is_communication(n.kind)) return m;
        if (n.role >= 0) {
            const int role = rank_of(n.role);
            m.communicator = communicator(n.axes, {&role, 1});
            return m;
        }
        vec<int> roles = seat_roles(n);
        m.root = -1;
        for (int k = 0; k < roles.size(); ++k)
            if (roles[k] == n.root) m.root = k;
        m.local = g_.folded;
        if (!g_.folded) m.communicator = communicator(0, {roles.begin(), roles.size()});
        return m;
    }

    // Seats of a collective over roles: those who give, or, where one gives, those who receive and the giver last if it
    // does not receive.
    constexpr vec<int> seat_roles(const ir::node& n) const {
        vec<int> roles;
        if (n.kind == op_kind::broadcast || n.kind == op_kind::scatter) {
            bool root = false;
            for (int t : g_.operands.part(n.first_target, n.targets)) {
                roles.push(t);
                root = root || t == n.root;
            }
            if (!root) roles.push(n.root);
        } else {
            for (int a : arguments(n)) roles.push(g_.symbols[a].role);
        }
        return roles;
    }

    constexpr void seats(int i, int member, int only_role) {
        const ir::node& n = g_.nodes[i];
        const vec<int> roles = seat_roles(n);
        const int result = g_.operands[n.first_result];
        int given = -1;  // buffers that every member has in common: equal offsets
        int taken = -1;
        for (int role = 0; role < g_.roles.size(); ++role) {
            if (only_role >= 0 && role != only_role) continue;
            for (int k = 0; k < roles.size(); ++k) {
                if (roles[k] != role) continue;
                begin_part(role, k, member);
                for (int a : arguments(n))
                    if (g_.symbols[a].role == role) {
                        touch(place_of(a, role), access_mode::read);
                        if (n.arguments > 1 && only_role < 0) share(place_of(a, role), given);
                    }
                if (!receives(n, role)) continue;
                const int b = buffer_on(result, role);
                touch(b, access_mode::write);
                if (n.targets > 1 && only_role < 0) share(b, taken);
            }
        }
    }

    constexpr bool receives(const ir::node& n, int role) const {
        for (int t : g_.operands.part(n.first_target, n.targets))
            if (t == role) return true;
        return false;
    }

    // Registered and symmetric buffers demand the same offset on all members.
    constexpr void share(int buffer, int& common) {
        ir::buffer& b = program_.buffers[buffer];
        if (g_.folded || b.where != ir::storage::arena || b.common >= 0 || b.alias >= 0 || b.slots > 1) return;
        if (common < 0) common = program_.commons++;
        b.common = common;
    }

    // Memory for one vertex only: workspace, or a result that nobody wants.
    constexpr int scratch(int role, const tensor_type& type, std::int64_t bytes) {
        ir::buffer b;
        b.where = ir::storage::workspace;
        b.role = rank_of(role);
        b.type = type;
        b.bytes = bytes;
        program_.buffers.push(b);
        return program_.buffers.size() - 1;
    }

    constexpr void local_part(int i, int member) {
        const ir::node& n = g_.nodes[i];
        begin_part(n.role, 0, member);
        for (int a : arguments(n)) {
            bool target = false;
            if (n.update)
                for (int r : g_.operands.part(n.first_result, n.results)) target = target || r == a;
            touch(place_of(a, n.role), target && first_use(n, a) ? access_mode::update : access_mode::read);
        }
        for (int k = 0; k < n.results; ++k) {
            const int r = g_.operands[n.first_result + k];
            if (r < 0) {
                tensor_type made[max_results] = {};
                n.op->infer(types_of(n), made);
                touch(scratch(n.role, made[k], made[k].bytes()), access_mode::write);
            } else if (n.update) {
                bool argument = false;
                for (int a : arguments(n)) argument = argument || a == r;
                if (!argument) touch(buffer_on(r, n.role), access_mode::write);
            } else {
                const int b = buffer_on(r, n.role);
                if (k == 0) take_over(n, b);
                touch(b, access_mode::write);
            }
        }
        if (!n.op->has_workspace) return;
        if (const std::int64_t bytes = n.op->workspace(types_of(n)); bytes > 0) touch(scratch(n.role, {}, bytes), access_mode::write);
    }

    // Of the arguments.
    constexpr const tensor_type* types_of(const ir::node& n) {
        types_.resize(n.arguments);
        for (int a = 0; a < n.arguments; ++a) types_[a] = g_.symbols.first[g_.operands.first[n.first_argument + a]].type;
        return types_.begin();
    }

    // Statements may stand in any order, so a buffer may have become an alias, or got slots, after others referred to it.
    constexpr void settle_aliases() {
        vec<ir::buffer>& buffers = program_.buffers;
        for (ir::buffer& b : buffers)
            while (b.alias >= 0 && buffers[b.alias].alias >= 0) b.alias = buffers[b.alias].alias;
        for (const ir::buffer& b : buffers)
            if (b.alias >= 0 && b.slots > buffers[b.alias].slots) buffers[b.alias].slots = b.slots;
        for (ir::buffer& b : buffers) {
            if (b.alias >= 0) b.slots = buffers[b.alias].slots;
            if (b.alias >= 0 || b.slots > 1) b.common = -1;
        }
    }

    // A target that stands twice among the arguments is passed as inout the first time only.
    constexpr bool first_use(const ir::node& n, int symbol) const {
        int uses = 0;
        for (int a : arguments(n)) uses += a == symbol ? 1 : 0;
        return uses == 1 || program_.parts.back().accesses == position(n, symbol);
    }
    constexpr int position(const ir::node& n, int symbol) const {
        for (int k = 0; k < n.arguments; ++k)
            if (g_.operands[n.first_argument + k] == symbol) return k;
        return -1;
    }

    // An operation that can work in place does, where its argument has no other reader.
    constexpr void take_over(const ir::node& n, int result) {
        const int k = n.op->in_place_only && n.op->in_place < 0 ? 0 : n.op->in_place;
        if (k < 0 || k >= n.arguments) return;
        const int a = g_.operands[n.first_argument + k];
        const int from = place_of(a, n.role);
        ir::buffer& source = program_.buffers[from];
        ir::buffer& b = program_.buffers[result];
        const bool sole = g_.symbols[a].kind == ir::symbol_kind::value && readers_[a] == 1 && !source.output;
        if (!sole || source.where != ir::storage::arena || b.where != ir::storage::arena || source.bytes != b.bytes) return;
        const int root = source.alias >= 0 ? source.alias : from;
        if (!n.op->in_place_only && (b.slots > 1 || program_.buffers[root].slots > 1)) return;
        b.alias = root;
    }

    const ir::graph& g_;
    const expansion_settings s_;
    ir::program_data program_;
    vec<int> home_;     // symbol x role: the buffer
    vec<int> readers_;  // of each symbol
    vec<int> bundle_;   // the vertex of each NCCL group
    vec<tensor_type> types_;
};

}  // namespace detail

// The sizes that the program's arrays have at most.
constexpr ir::sizes<7> largest_program(const ir::graph& g) {
    const int symbols = g.symbols.count;
    vec<int> read_by(symbols, -2);
    int* reader = read_by.begin();  // the role that brought a symbol to itself last
    int brought = 0, statements = 0, ends = 0, touches = 0, scratch = 0, talks = 0;
    for (const ir::node *n = g.nodes.begin(), *last = g.nodes.end(); n != last; ++n) {
        ++statements;
        touches += n->arguments + n->results;
        for (const int *a = g.operands.first + n->first_argument, *end = a + n->arguments; a != end; ++a) {
            const ir::symbol& y = g.symbols.first[*a];
            const int role = n->role < 0 ? y.role : n->role;
            if ((y.role == role && y.kind != ir::symbol_kind::input) || reader[*a] == role) continue;
            reader[*a] = role;
            ++brought;
        }
        if (n->op->has_workspace) ++scratch;
        for (int r = 0; r < n->results; ++r)
            if (g.operands.first[n->first_result + r] < 0) ++scratch;
        if (!is_communication(n->kind)) continue;
        ++talks;
        if (n->role < 0) {
            ends += n->arguments + n->targets;
            touches += n->arguments + n->targets;
        }
    }
    return {{symbols + brought + scratch + ends, touches + scratch + 2 * brought, statements + ends + 2 * brought, statements + brought, statements + brought,
             talks + brought, talks + ends + 2 * brought}};
}

constexpr ir::program_data expand(const ir::graph& g, const expansion_settings& s) { return detail::expansion{g, s}.run(); }

}  // namespace dovetail::pass
