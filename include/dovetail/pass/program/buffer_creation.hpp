// The buffer of each symbol on each role that holds it, and the tasks that bring the value there: inputs and transfers. Takes a checked
// graph. A buffer is made when `expand` first asks for it, which adds those tasks to the program under construction.
#pragma once

#include "../../cost/transport.hpp"
#include "../../ir/parts.hpp"
#include "program_builder.hpp"

namespace dovetail::pass::detail {

template <class Graph, class Table>
class buffer_creation {
public:
    // `order`: the roles in the order of their ranks.
    constexpr buffer_creation(const Graph& g, const cost_model::expansion_options& s, span<const int> order, Table& to)
        : builder{to},
          where{g},
          g_{g},
          s_{s},
          links_{g, s.relays() ? s.links : cost_model::link_options{}, order},
          home_(by_role_and_symbol::sized(g.roles.count * g.symbols.count)),
          readers_(by_symbol::sized(g.symbols.count)) {
        auto& readers = readers_.first;
        const auto& nodes = g.nodes.first;
        const auto& operands = g.operands.first;
        for (int i = 0, a = 0, end = 0; i < g.nodes.count; ++i) {
            if (g.views && nodes[i].op->view != view_kind::none) continue;
            for (a = nodes[i].first_argument, end = a + nodes[i].arguments; a < end; ++a) ++readers[where.whole_of(operands[a])];
            if (nodes[i].awaited == 0) continue;
            for (a = nodes[i].first_awaited, end = a + nodes[i].awaited; a < end; ++a) ++readers[where.whole_of(operands[a])];
        }
    }

    program_builder<Table> builder;
    const ir::locations where;  // of the graph's symbols
    // Whether what has been said of a buffer stays so. It does not where a statement stands above what it uses: a buffer may
    // become an alias, or get slots, after others have referred to it.
    bool settled = true;

    constexpr int rank_of(int role) const { return g_.single_rank ? 0 : role; }

    // By symbol: the buffer that holds it on a role, one more; 0: none yet.
    constexpr const int* on(int role) const { return home_.begin() + role * g_.symbols.count; }

    // The same, with the task that brings it there where one is needed.
    constexpr int make_available(int symbol, int role) {
        if (const int there = on(role)[symbol]; there > 0) return there - 1;
        const ir::symbol& y = g_.symbols.first[symbol];
        if (where.is_part(symbol)) return bring_part(symbol, role);
        if (!lives_on(y, role)) return transfer(symbol, role);
        switch (y.kind) {
            case ir::symbol_kind::axis_index: return make(symbol, role, ir::storage::constant);
            case ir::symbol_kind::state: return make(symbol, role, ir::storage::state);
            case ir::symbol_kind::value: return make(symbol, role, ir::storage::arena);
            case ir::symbol_kind::input: break;
        }
        const int b = make(symbol, role, ir::storage::input);
        moving(symbol, op_kind::input, false, -1);
        builder.touch(b, access_mode::write);
        builder.participation(rank_of(role), builder.member_count - 1, 0, builder.access_count - 1);
        builder.task(builder.participation_count - 1, builder.member_count - 1, stream_kind::copy, op_kind::input);
        return b;
    }

    constexpr bool lives_on(const ir::symbol& y, int role) const {
        if (y.role >= 0) return y.role == role;
        if (y.node < 0) return true;
        return ir::receives(g_, g_.nodes.first[y.node], role);
    }

    // A symbol's access of a buffer that holds it, or holds it among others.
    constexpr void touch(int buffer, int symbol, access_mode mode) {
        builder.touch(buffer, mode);
        if (!where.empty()) note_block(builder.access_count - 1, symbol);
    }
    // The same of an access that is there.
    constexpr void note_block(int access, int symbol) {
        const ir::buffer& x = builder.buffers[builder.accesses[access].buffer];
        if (where[symbol].bytes == x.bytes) return;
        builder.blocks.push({access, where[symbol].begin - where[x.symbol].begin, where[symbol].bytes});
    }

    // A new buffer for a symbol that lives on the role.
    constexpr int make(int symbol, int role, ir::storage memory) {
        const ir::symbol& y = g_.symbols.first[symbol];
        const bool output = y.output && y.kind == ir::symbol_kind::value && lives_on(y, role);
        const int b = builder.buffer_count++;
        if (memory == ir::storage::arena && y.in_host_memory) memory = ir::storage::host;
        builder.buffers[b] = {memory,
                              g_.single_rank ? 0 : role,
                              symbol,
                              y.type,
                              y.type.bytes(),
                              output || memory == ir::storage::input ? s_.in_flight : 1,
                              output,
                              -1,
                              -1,
                              b,
                              1};
        if (g_.single_rank && y.role < 0 && y.node < 0) {
            // What every role has for itself, an input or an axis index, a single-rank graph has once.
            for (int r = 0; r < g_.roles.count; ++r) home_.first[r * g_.symbols.count + symbol] = b + 1;
        } else {
            home_.first[role * g_.symbols.count + symbol] = b + 1;
        }
        return b;
    }

    // Memory for one task only: workspace, or a discarded result; in the arena the result may re-use its argument's bytes.
    constexpr int scratch(int role, const tensor_type& type, std::int64_t bytes, ir::storage memory = ir::storage::workspace) {
        builder.buffers[builder.buffer_count] = {memory, rank_of(role), -1, type, bytes, 1, false, -1, -1, builder.buffer_count, 1};
        return builder.buffer_count++;
    }

    // An operation that can work in place does, where its argument has no other reader, nor has a part of it.
    constexpr void alias_argument(const ir::node& n, int result) {
        int k = n.op->in_place;
        if (k < 0) k = 0;
        if (k >= n.arguments || where.is_part(g_.operands.first[n.first_result])) return;
        const int a = g_.operands.first[n.first_argument + k];
        if (readers_.first[a] != 1 || where.is_part(a) || g_.symbols.first[a].kind != ir::symbol_kind::value) return;
        const int from = home_.first[n.role * g_.symbols.count + a] - 1;
        const ir::buffer& source = builder.buffers[from];
        ir::buffer& b = builder.buffers[result];
        if (source.output || source.where != ir::storage::arena || b.where != ir::storage::arena || source.bytes != b.bytes) return;
        const int root = source.alias >= 0 ? source.alias : from;
        if (b.slots > 1 || builder.buffers[root].slots > 1) {
            if (!n.op->in_place_only) return;
            settled = false;
        }
        b.alias = root;
    }

    constexpr void finish(Table& to) {
        if (!settled) settle();
        builder.finish(to, g_.single_rank ? 1 : g_.roles.count);
    }

private:
    constexpr void settle() {
        auto& buffers = builder.buffers;
        for (int i = 0; i < builder.buffer_count; ++i) {
            ir::buffer& b = buffers[i];
            int root = b.alias;
            if (root < 0) continue;
            while (buffers[root].alias >= 0) root = buffers[root].alias;
            b.alias = root;
            if (b.slots > buffers[root].slots) buffers[root].slots = b.slots;
        }
        for (int i = 0; i < builder.buffer_count; ++i) {
            ir::buffer& b = buffers[i];
            if (b.alias >= 0) b.slots = buffers[b.alias].slots;
        }
    }

    // Where the whole lies on the role it is a block of that, elsewhere a value of its own, the same for all that are the same rows.
    constexpr int bring_part(int symbol, int role) {
        const ir::location& mine = where[symbol];
        const bool here = lives_on(g_.symbols.first[mine.whole], role);
        const int b = here                  ? make_available(mine.whole, role)
                      : mine.same != symbol ? make_available(mine.same, role)
                                            : transfer(symbol, role);
        home_.first[role * g_.symbols.count + symbol] = b + 1;
        return b;
    }

    // The role a value comes from when another reads it.
    constexpr int source_role(const ir::symbol& y) const {
        return y.role >= 0 ? y.role : g_.operands.first[g_.nodes.first[y.node].first_target];
    }

    // A peer copy reads the sender's arena, whose offsets the receiver knows; other memory can move from run to run.
    constexpr transport transport_of(const ir::buffer& from, const ir::symbol& sent, std::int64_t bytes) const {
        if (g_.single_rank || from.where != ir::storage::arena) return transport::nccl;
        if (sent.sent_by != transport::automatic) return sent.sent_by;
        return bytes >= s_.peer_copies_from ? transport::peer_copy : transport::nccl;
    }

    // To another role, over others where several copies take less time than one.
    constexpr int transfer(int symbol, int role) {
        const int home = source_role(g_.symbols.first[where.whole_of(symbol)]);
        const int there = make_available(symbol, home);
        const std::int64_t bytes = g_.symbols.first[symbol].type.bytes();
        const transport moved_by = transport_of(builder.buffers[there], g_.symbols.first[symbol], bytes);
        const int relay = moved_by == transport::peer_copy && s_.relays() ? relay_of(home, role, bytes) : home;
        return transfer(symbol, relay, relay == home ? there : make_available(symbol, relay), role, moved_by);
    }

    // The relay of the last size is kept for each pair of roles: micro-batches repeat it.
    constexpr int relay_of(int from, int to, std::int64_t bytes) {
        if (relays_.empty()) relays_ = vec<known_relay>(g_.roles.count * g_.roles.count);
        known_relay& known = relays_[from * g_.roles.count + to];
        if (known.bytes != bytes) known = {bytes, links_.relay(from, to, bytes)};
        return known.role;
    }

    constexpr int transfer(int symbol, int from_role, int from, int role, transport moved_by) {
        const int to = make(symbol, role, ir::storage::arena);
        if (!g_.single_rank) builder.buffers[to].slots = s_.channel_slots;
        const int roles[] = {from_role, role};
        moving(symbol, op_kind::transfer, g_.single_rank, g_.single_rank ? -1 : builder.communicator(0, {roles, 2}));
        const int first_participation = builder.participation_count;
        for (int k = 0; k < 2; ++k) {
            const bool sender = (k == 0) == (from_role < role);
            touch(sender ? from : to, symbol, sender ? access_mode::read : access_mode::write);
            builder.participation(rank_of(sender ? from_role : role), builder.member_count - 1, sender ? 0 : 1, builder.access_count - 1);
        }
        const stream_kind stream = g_.single_rank ? stream_kind::compute : stream_of(op_kind::transfer, moved_by);
        builder.task(first_participation, builder.member_count - 1, stream, op_kind::transfer, moved_by);
        return to;
    }

    // The only member of a task that no statement names.
    constexpr void moving(int symbol, op_kind kind, bool local, int communicator) {
        ir::member m;
        m.kind = kind;
        m.symbol = symbol;
        m.local = local;
        m.communicator = communicator;
        builder.members[builder.member_count++] = m;
    }

    struct known_relay {
        std::int64_t bytes = -1;
        int role = -1;
    };
    using by_role_and_symbol = grid<int, decltype(Graph::roles), decltype(Graph::symbols)>;
    using by_symbol = room<int, decltype(Graph::symbols)>;

    const Graph& g_;
    const cost_model::expansion_options s_;
    const cost_model::rank_links<Graph> links_;
    vec<known_relay> relays_;  // by pair of roles
    by_role_and_symbol home_;
    by_symbol readers_;  // of each symbol, and of what is part of it
};

}  // namespace dovetail::pass::detail
