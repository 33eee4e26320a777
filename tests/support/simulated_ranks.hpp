// The ranks of the simulator: their memory, their queues, and tables of what each participation reads and writes and with which others it
// communicates. From graph, program and plan; throws `failure` if they are inconsistent.
#pragma once

#include "interpreter.hpp"
#include "simulator.hpp"

#include <cstring>
#include <deque>
#include <map>
#include <set>

namespace support {

namespace detail {

class simulated_ranks {
public:
    simulated_ranks(const dv::ir::graph& g, const dv::ir::program& p, const dv::plan::plan& plan, meaning& m, const simulation& how)
        : g_{g}, p_{p}, plan_{plan}, m_{m}, how_{how} {
        prepare_participations();
        prepare_buffers();
        prepare_ranks();
        prepare_instances();
    }

protected:
    enum class what : unsigned char { wait, record, step };
    struct entry {
        what kind = what::step;
        int event = 0;       // ... and its slot, as one number
        int target = 0;      // run whose record is waited for, or is made
        int step = 0;        // of the role
        int run = 0;
        int phase = 0;
    };
    struct participation_view {
        std::vector<int> arguments, results, result_index, scratch, awaited;  // accesses
        int graph_role = -1;
        int node = -1;
    };
    struct rank {
        int role = 0;      // of the program
        int position = 0;
        std::vector<word> device, host;
        std::vector<std::vector<word>> own;                  // by buffer: inputs, states, constants
        std::array<std::deque<entry>, dv::stream_count> queues;
        std::vector<int> issued, done;                       // by event and slot: the latest run
        std::vector<std::vector<int>> uses_left;             // by run, by buffer at the root of its aliases
        std::vector<int> steps_left;                         // by run
        std::vector<std::pair<int, int>> instance_of;        // by participation: instance and group_index
        int next_run = 0;
        int read = 0;
        int limit = 0;
    };
    struct instance {
        int total = 0;
    };
    struct copied {
        std::vector<word> words;
        std::int64_t bytes = 0;
        dv::element type = dv::element::uint64;

        piece view() { return snapshot(words, bytes, type); }
    };
    struct meeting {
        int begun = 0;
        int read = 0;
        std::vector<std::vector<copied>> arguments;  // by group_index, by argument
    };

    // ---- tables

    void prepare_participations() {
        participations_.resize(p_.participations.size());
        for (int i = 0; i < p_.participations.size(); ++i) {
            const dv::ir::participation& participation = p_.participations[i];
            const dv::ir::member& member = p_.members[participation.member];
            participation_view& v = participations_[i];
            const auto mode = [&](int a) { return p_.accesses[a].mode; };
            v.node = member.node;
            for (int a = 0; a < participation.awaited; ++a) v.awaited.push_back(participation.first_access + participation.accesses + a);
            if (member.node < 0) {
                for (int a = participation.first_access; a < participation.first_access + participation.accesses; ++a)
                    (dv::writes(mode(a)) ? v.results : v.arguments).push_back(a);
                v.result_index.assign(v.results.size(), 0);
                continue;
            }
            const dv::ir::node& n = g_.nodes[member.node];
            if (n.role >= 0) {
                v.graph_role = n.role;
                local_participation(v, n, participation);
                continue;
            }
            const std::vector<int> group_indices = group_of(g_, n);
            if (participation.group_index < 0 || participation.group_index >= static_cast<int>(group_indices.size()))
                throw failure("node " + std::to_string(member.node) + " has no group_index " + std::to_string(participation.group_index));
            v.graph_role = group_indices[static_cast<std::size_t>(participation.group_index)];
            // What the role gives, then what it gets.
            for (int a = participation.first_access; a < participation.first_access + participation.accesses; ++a) {
                (dv::writes(mode(a)) ? v.results : v.arguments).push_back(a);
                if (dv::writes(mode(a))) v.result_index.push_back(0);
            }
        }
    }
    // An operation's pointers stand in the order of accesses: arguments in order, a target of an update that is also an argument once,
    // at its first place; then the other results in order; then workspace.
    void local_participation(participation_view& v, const dv::ir::node& n, const dv::ir::participation& participation) const {
        const auto at_place = [&](int a) -> const dv::ir::access& { return p_.accesses[participation.first_access + a]; };
        const auto is = [&](int a, int symbol) { return a < participation.accesses && is_of(at_place(a), symbol); };
        for (int k = 0; k < n.arguments; ++k) {
            if (!is(k, g_.operands[n.first_argument + k]) || !dv::reads(at_place(k).mode))
                throw failure("argument " + std::to_string(k) + " of node " + std::to_string(v.node) + " is not at its place");
            v.arguments.push_back(participation.first_access + k);
        }
        int next = n.arguments;
        for (int k = 0; k < n.results; ++k) {
            const int symbol = g_.operands[n.first_result + k];
            int at = -1;
            for (int a = n.arguments - 1; a >= 0 && n.update && symbol >= 0; --a)
                if (is(a, symbol)) at = a;
            if (at < 0) at = next++;
            if (!is(at, symbol) || !dv::writes(at_place(at).mode))
                throw failure("result " + std::to_string(k) + " of node " + std::to_string(v.node) + " is not at its place");
            v.results.push_back(participation.first_access + at);
            v.result_index.push_back(k);
        }
        for (; next < participation.accesses; ++next) v.scratch.push_back(participation.first_access + next);
        check_workspace(v, n);
        check_types(v, n);
        check_awaited(v, n);
    }
    bool is_of(const dv::ir::access& a, int symbol) const { return support::is_of(g_, p_, a, symbol); }
    std::int64_t size_of(const dv::ir::access& a) const { return support::size_of(p_, a); }
    // The type of the buffer, with the rows that the access has of it.
    dv::tensor_type type_of(const dv::ir::access& a) const {
        dv::tensor_type type = p_.buffers[a.buffer].type;
        if (const std::int64_t whole = type.bytes(), bytes = size_of(a); bytes != whole && whole > 0 && type.rank > 0) {
            if (type.extent[0] * bytes % whole != 0) throw failure("an access of no whole rows");
            type.extent[0] = type.extent[0] * bytes / whole;
        }
        return type;
    }
    // What the launch would get has the types that the operation knows.
    void check_types(const participation_view& v, const dv::ir::node& n) const {
        const std::string whose = " of node " + std::to_string(v.node);
        std::vector<dv::tensor_type> types;
        for (int k = 0; k < n.arguments; ++k) {
            types.push_back(g_.symbols[g_.operands[n.first_argument + k]].type);
            if (type_of(p_.accesses[v.arguments[static_cast<std::size_t>(k)]]) != types.back())
                throw failure("another type of an argument" + whose);
        }
        dv::tensor_type made[dv::max_results] = {};
        if (n.kind == dv::op_kind::compute) n.op->infer(types.data(), made);
        for (int k = 0; k < n.results; ++k) {
            if (const int symbol = g_.operands[n.first_result + k]; symbol >= 0) made[k] = g_.symbols[symbol].type;
            const dv::ir::access& b = p_.accesses[v.results[static_cast<std::size_t>(k)]];
            if (type_of(b) != made[k] || size_of(b) < made[k].bytes()) throw failure("another type of a result" + whose);
        }
        for (const int a : v.scratch)
            if (p_.buffers[p_.accesses[a].buffer].type.valid()) throw failure("scratch memory with a type" + whose);
    }
    // The statement starts after what it says.
    void check_awaited(const participation_view& v, const dv::ir::node& n) const {
        bool right = static_cast<int>(v.awaited.size()) == n.awaited;
        for (int k = 0; right && k < n.awaited; ++k) {
            const dv::ir::access& a = p_.accesses[v.awaited[static_cast<std::size_t>(k)]];
            right = a.mode == dv::access_mode::read && is_of(a, g_.operands[n.first_awaited + k]);
        }
        if (!right) throw failure("node " + std::to_string(v.node) + " starts after something else");
    }
    // What is left of the accesses is the workspace that the operation asks for.
    void check_workspace(const participation_view& v, const dv::ir::node& n) const {
        std::vector<dv::tensor_type> types;
        for (int k = 0; k < n.arguments; ++k) types.push_back(g_.symbols[g_.operands[n.first_argument + k]].type);
        const std::int64_t wanted = n.kind == dv::op_kind::compute && n.op->workspace != nullptr ? n.op->workspace(types.data()) : 0;
        std::int64_t given = 0;
        for (const int a : v.scratch) given += size_of(p_.accesses[a]);
        if (wanted != given || v.scratch.size() > 1)
            throw failure("node " + std::to_string(v.node) + " asks for " + std::to_string(wanted) + " bytes of workspace and gets " +
                          std::to_string(given));
    }

    // The first leaf of the root buffer that an access touches.
    int root_leaf(const dv::ir::access& a) const {
        return a.leaf - p_.buffers[a.buffer].first_leaf + p_.buffers[root_of(a.buffer)].first_leaf;
    }
    int root_of(int buffer) const { return p_.buffers[buffer].alias >= 0 ? p_.buffers[buffer].alias : buffer; }

    void prepare_buffers() {
        kept_.assign(p_.buffers.size(), 0);
        uses_.assign(p_.leaves.size(), 0);
        holder_.assign(p_.buffers.size(), -1);
        for (int b = 0; b < p_.buffers.size(); ++b) {
            const dv::ir::buffer& x = p_.buffers[b];
            if (x.symbol >= 0 && x.bytes < g_.symbols[x.symbol].type.bytes())
                throw failure("buffer " + std::to_string(b) + " is smaller than its symbol");
            if (x.alias >= 0 && p_.buffers[x.alias].alias >= 0) throw failure("buffer " + std::to_string(b) + " is an alias of an alias");
            if (x.output || x.where == dv::ir::storage::state || x.where == dv::ir::storage::constant) kept_[root_of(b)] = 1;
            if (x.where == dv::ir::storage::arena || x.where == dv::ir::storage::workspace || x.where == dv::ir::storage::host) {
                const auto& at = plan_.placements[b];
                const auto& role = plan_.roles[x.role];
                const std::int64_t room = x.where == dv::ir::storage::host ? role.host_arena_bytes : role.arena_bytes;
                const std::int64_t stride = x.slots > 1 ? at.stride : x.bytes;  // without meaning where there is one slot
                const bool aligned = at.offset % dv::ir::alignment == 0 && (x.slots == 1 || stride % dv::ir::alignment == 0);
                if (x.bytes > 0 && (at.offset < 0 || !aligned || stride < x.bytes || at.offset + (x.slots - 1) * stride + x.bytes > room))
                    throw failure("buffer " + std::to_string(b) + " does not lie in its arena");
                const auto& under = plan_.placements[root_of(b)];
                if (x.bytes > 0 && (at.offset != under.offset || x.slots != p_.buffers[root_of(b)].slots))
                    throw failure("an alias lies elsewhere: buffer " + std::to_string(b));
            } else if (plan_.placements[b].offset >= 0) {  // a backend would look for it there
                throw failure("buffer " + std::to_string(b) + " has a place in an arena and is in none");
            }
        }
        for (int i = 0; i < p_.participations.size(); ++i) {
            const dv::ir::participation& participation = p_.participations[i];
            for (const auto& a : p_.accesses.subspan(participation.first_access, participation.touches()))
                for (int l = root_leaf(a), end = l + a.leaves; l < end; ++l) ++uses_[l];
            for (int a : participations_[i].results) holder_[p_.accesses[a].buffer] = participations_[i].graph_role;
        }
    }

    void prepare_ranks() {
        for (int role = 0; role < p_.roles; ++role)
            for (int position = 0; position < m_.positions(role); ++position) {
                ranks_.emplace_back();
                rank& k = ranks_.back();
                k.role = role;
                k.position = position;
                const auto& plan = plan_.roles[role];
                k.device.resize(static_cast<std::size_t>(words_of(plan.arena_bytes)));
                k.host.resize(static_cast<std::size_t>(words_of(plan.host_arena_bytes)));
                poison({reinterpret_cast<unsigned char*>(k.device.data()), plan.arena_bytes});
                poison({reinterpret_cast<unsigned char*>(k.host.data()), plan.host_arena_bytes});
                k.own.resize(p_.buffers.size());
                k.issued.assign(plan.events * plan_.event_slots, -1);
                k.done = k.issued;
                k.uses_left.resize(m_.runs);
                k.steps_left.assign(m_.runs, plan.steps);
                k.instance_of.resize(p_.participations.size());
                k.limit = how_.ahead;
                for (int b = 0; b < p_.buffers.size(); ++b) {
                    const dv::ir::buffer& x = p_.buffers[b];
                    if (x.role != role) continue;
                    if (const int slots = how_.in_flight > 0 ? how_.in_flight : x.slots; x.output && slots < k.limit) k.limit = slots;
                    if (x.where != dv::ir::storage::input && x.where != dv::ir::storage::state && x.where != dv::ir::storage::constant)
                        continue;
                    k.own[b].resize(static_cast<std::size_t>(words_of(x.bytes) * x.slots));
                    const piece all{reinterpret_cast<unsigned char*>(k.own[b].data()), static_cast<std::int64_t>(k.own[b].size()) * 8};
                    poison(all);
                    const dv::ir::symbol& s = g_.symbols[x.symbol];
                    if (x.where == dv::ir::storage::state && s.initialised && x.bytes > 0)
                        std::memcpy(all.data, m_.initial_state(x.symbol, s.role, position).data, static_cast<std::size_t>(x.bytes));
                    if (x.where == dv::ir::storage::constant) {
                        int axis = 0;
                        while ((s.index_axis >> axis & 1u) == 0) ++axis;
                        const std::int32_t c = m_.coordinate(role, position, axis);
                        std::memcpy(all.data, &c, sizeof c);
                    }
                }
            }
    }

    // The participations that communicate with each other: the members of a communicator at one position, or all of a member on one rank.
    void prepare_instances() {
        std::map<std::array<int, 3>, int> ids;  // by member, and two numbers that say where
        for (std::size_t k = 0; k < ranks_.size(); ++k) {
            rank& at = ranks_[k];
            for (const auto& step : plan_.steps.subspan(plan_.roles[at.role].first_step, plan_.roles[at.role].steps))
                for (int i = step.first_participation; i < step.first_participation + step.participations; ++i) {
                    const dv::ir::participation& participation = p_.participations[i];
                    if (participation.role != at.role)
                        throw failure("a step of role " + std::to_string(at.role) + " holds a part of another");
                    const dv::ir::member& member = p_.members[participation.member];
                    std::array<int, 3> key{participation.member, -1, static_cast<int>(k)};
                    int group_index = participation.group_index, expected = 0;
                    if (dv::is_communication(member.kind) && member.communicator >= 0 && !member.local) {
                        const dv::ir::communicator& c = p_.communicators[member.communicator];
                        if (c.axes == 0) {
                            key = {participation.member, 0, at.position};
                            expected = c.roles;
                        } else {
                            const auto positions = m_.neighbours(at.role, at.position, c.axes);
                            key = {participation.member, 1, positions[0]};
                            expected = static_cast<int>(positions.size());
                            for (int l = 0; l < expected; ++l)
                                if (positions[l] == at.position) group_index = l;
                        }
                    }
                    const auto [found, fresh] = ids.emplace(key, static_cast<int>(instances_.size()));
                    const int id = found->second;
                    if (fresh) instances_.push_back({}), expected_.push_back(expected);
                    ++instances_[id].total;
                    at.instance_of[i] = {id, group_index};
                }
        }
        for (std::size_t i = 0; i < instances_.size(); ++i)
            if (expected_[i] > 0 && expected_[i] != instances_[i].total) throw failure("a communicator's member never comes");
        meetings_.resize(instances_.size() * m_.runs);
        check_order_in_groups();
    }
    // NCCL needs the calls of a group in one order on all ranks.
    void check_order_in_groups() const {
        std::set<std::pair<int, int>> in_turn;
        for (const rank& at : ranks_)
            for (const auto& step : plan_.steps.subspan(plan_.roles[at.role].first_step, plan_.roles[at.role].steps))
                for (int i = step.first_participation; i < step.first_participation + step.participations; ++i)
                    for (int k = i + 1; k < step.first_participation + step.participations; ++k) {
                        const int first = at.instance_of[i].first, second = at.instance_of[k].first;
                        if (first == second || expected_[first] == 0 || expected_[second] == 0) continue;
                        if (in_turn.count({second, first}) > 0) throw failure("calls of a group come in another order on " + name(at));
                        in_turn.insert({first, second});
                    }
    }

    // ---- memory

    void poison(piece p) { fill(p, mix(0xdead + ++garbage_)); }

    piece bytes_of(rank& k, int buffer, int run) {
        const dv::ir::buffer& b = p_.buffers[buffer];
        const int slot = run % b.slots;
        if (b.where == dv::ir::storage::input || b.where == dv::ir::storage::state || b.where == dv::ir::storage::constant)
            return {reinterpret_cast<unsigned char*>(k.own[buffer].data() + slot * words_of(b.bytes)), b.bytes, b.type.type};
        std::vector<word>& memory = b.where == dv::ir::storage::host ? k.host : k.device;
        const dv::ir::placement& at = plan_.placements[buffer];
        if (b.bytes == 0) return {reinterpret_cast<unsigned char*>(memory.data()), 0, b.type.type};
        return {reinterpret_cast<unsigned char*>(memory.data()) + at.offset + slot * at.stride, b.bytes, b.type.type};
    }

    piece touched_by(rank& k, int access, int run) {
        const dv::ir::access& a = p_.accesses[access];
        const piece all = bytes_of(k, a.buffer, run);
        return {all.data + p_.leaves[a.leaf].begin, size_of(a), all.type};
    }

    meeting& meeting_of(const rank& k, int participation, int run) {
        return meetings_[run * instances_.size() + k.instance_of[participation].first];
    }
    const dv::ir::step& step_of(const rank& k, const entry& e) const { return plan_.steps[plan_.roles[k.role].first_step + e.step]; }

    std::string name(const rank& k) const {
        return "rank (role " + std::to_string(k.role) + ", position " + std::to_string(k.position) + ")";
    }
    std::string name(const dv::ir::step& step) const {
        const dv::ir::member& m = p_.members[p_.tasks[step.task].first_member];
        return "task " + std::to_string(step.task) + " (" + dv::name_of(m.kind) + ", node " + std::to_string(m.node) + ", symbol " +
               std::to_string(m.symbol) + ")";
    }

    const dv::ir::graph& g_;
    const dv::ir::program& p_;
    const dv::plan::plan& plan_;
    meaning& m_;
    simulation how_;
    word garbage_ = 0;
    std::vector<participation_view> participations_;
    std::vector<char> kept_;        // by root buffer: not garbage after its last use
    std::vector<int> uses_;         // by leaf of a root buffer
    std::vector<int> holder_;       // by buffer: the graph's role whose node writes it
    std::vector<rank> ranks_;
    std::vector<instance> instances_;
    std::vector<int> expected_;
    std::vector<meeting> meetings_;
    std::vector<word> expect_;
};

}  // namespace detail

}  // namespace support
