// The ranks that the simulator runs: their memory, their queues, and tables that say what each part of the program reads,
// writes and meets. Takes graph, program and plan, and throws `failure` where they do not fit together.
#pragma once

#include "interpreter.hpp"

#include <dovetail/plan/plan.hpp>

#include <array>
#include <cstring>
#include <deque>
#include <stdexcept>

namespace support {

struct failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct simulation {
    word seed = 0;
    std::array<int, dv::lane_count> queue_of = {0, 1, 2};  // lanes with equal numbers share one queue, in issue order
    int ahead = 4;                                         // runs that a rank without outputs may be in front
};

namespace detail {

class simulated_ranks {
public:
    simulated_ranks(const dv::ir::graph& g, const dv::ir::program& p, const dv::plan::plan& plan, meaning& m, const simulation& how)
        : g_{g}, p_{p}, plan_{plan}, m_{m}, how_{how} {
        prepare_parts();
        prepare_buffers();
        prepare_ranks();
        prepare_instances();
    }

protected:
    enum class what : unsigned char { wait, record, step };
    struct entry {
        what kind = what::step;
        int event = 0;       // ... and its ring slot, as one number
        int target = 0;      // run whose record is waited for, or is made
        int step = 0;        // of the role
        int run = 0;
        int phase = 0;
    };
    struct part_view {
        std::vector<int> arguments, results, result_index, scratch;  // buffers
        int graph_role = -1;
        int node = -1;
    };
    struct rank {
        int role = 0;      // of the program
        int lane = 0;
        std::vector<word> device, host;
        std::vector<std::vector<word>> own;                  // by buffer: inputs, states, constants
        std::array<std::deque<entry>, dv::lane_count> queues;
        std::vector<int> issued, done;                       // by event and ring slot: the latest run
        std::vector<std::vector<int>> uses_left;             // by run, by buffer at the root of its aliases
        std::vector<int> steps_left;                         // by run
        std::vector<std::pair<int, int>> instance_of;        // by part: instance and seat
        int next_run = 0;
        int read = 0;
        int limit = 0;
    };
    struct instance {
        int total = 0;
    };
    struct meeting {
        int begun = 0;
        int read = 0;
        std::vector<std::vector<std::vector<word>>> arguments;  // by seat, by argument
    };

    // ---- tables

    void prepare_parts() {
        parts_.resize(p_.parts.size());
        for (int i = 0; i < p_.parts.size(); ++i) {
            const dv::ir::part& part = p_.parts[i];
            const dv::ir::member& member = p_.members[part.member];
            part_view& v = parts_[i];
            const auto accesses = p_.accesses.part(part.first_access, part.accesses);
            v.node = member.node;
            if (member.node < 0) {
                for (const auto& a : accesses) (dv::writes(a.mode) ? v.results : v.arguments).push_back(a.buffer);
                v.result_index.assign(v.results.size(), 0);
                continue;
            }
            const dv::ir::node& n = g_.nodes[member.node];
            v.graph_role = n.role >= 0 ? n.role : seats_of(g_, n)[part.seat];
            std::vector<char> used(static_cast<std::size_t>(part.accesses), 0);
            for (int k = 0; k < n.arguments; ++k) {
                const int symbol = g_.operands[n.first_argument + k];
                if (n.role < 0 && g_.symbols[symbol].role != v.graph_role) continue;
                int found = -1;
                for (int a = 0; a < accesses.size(); ++a)
                    if (dv::reads(accesses[a].mode) && p_.buffers[accesses[a].buffer].symbol == symbol) found = a;
                if (found < 0) throw failure("a part does not read an argument of node " + std::to_string(member.node));
                v.arguments.push_back(accesses[found].buffer);
                if (!dv::writes(accesses[found].mode)) used[found] = 1;
            }
            for (int k = 0; k < n.results; ++k) {
                const int symbol = g_.operands[n.first_result + k];
                int found = -1;
                for (int a = accesses.size() - 1; a >= 0; --a)
                    if (!used[a] && dv::writes(accesses[a].mode) && p_.buffers[accesses[a].buffer].symbol == symbol) found = a;
                if (found < 0) {
                    if (n.role < 0) continue;
                    throw failure("a part does not write a result of node " + std::to_string(member.node));
                }
                used[found] = 1;
                v.results.push_back(accesses[found].buffer);
                v.result_index.push_back(k);
            }
            for (int a = 0; a < accesses.size(); ++a)
                if (accesses[a].mode == dv::access_mode::write && !used[a]) v.scratch.push_back(accesses[a].buffer);
        }
    }

    int root_of(int buffer) const { return p_.buffers[buffer].alias >= 0 ? p_.buffers[buffer].alias : buffer; }

    void prepare_buffers() {
        kept_.assign(p_.buffers.size(), 0);
        uses_.assign(p_.buffers.size(), 0);
        holder_.assign(p_.buffers.size(), -1);
        for (int b = 0; b < p_.buffers.size(); ++b) {
            const dv::ir::buffer& x = p_.buffers[b];
            if (x.alias >= 0 && p_.buffers[x.alias].alias >= 0) throw failure("buffer " + std::to_string(b) + " is an alias of an alias");
            if (x.output || x.where == dv::ir::storage::state || x.where == dv::ir::storage::constant) kept_[root_of(b)] = 1;
            if (x.where == dv::ir::storage::arena || x.where == dv::ir::storage::workspace || x.where == dv::ir::storage::host) {
                const auto& at = plan_.placements[b];
                const auto& role = plan_.roles[x.role];
                const std::int64_t room = x.where == dv::ir::storage::host ? role.host_arena_bytes : role.arena_bytes;
                if (x.bytes > 0 && (at.offset < 0 || at.offset % dv::ir::alignment != 0 || at.stride % dv::ir::alignment != 0 ||
                                    at.offset + (x.slots - 1) * at.stride + x.bytes > room || (x.slots > 1 && at.stride < x.bytes)))
                    throw failure("buffer " + std::to_string(b) + " does not lie in its arena");
                const auto& under = plan_.placements[root_of(b)];
                if (x.bytes > 0 && (at.offset != under.offset || x.slots != p_.buffers[root_of(b)].slots)) throw failure("an alias lies elsewhere: buffer " + std::to_string(b));
            }
        }
        for (int i = 0; i < p_.parts.size(); ++i) {
            const dv::ir::part& part = p_.parts[i];
            for (const auto& a : p_.accesses.part(part.first_access, part.accesses)) ++uses_[root_of(a.buffer)];
            for (int b : parts_[i].results) holder_[b] = parts_[i].graph_role;
        }
    }

    void prepare_ranks() {
        for (int role = 0; role < p_.roles; ++role)
            for (int lane = 0; lane < m_.lanes(role); ++lane) {
                ranks_.emplace_back();
                rank& k = ranks_.back();
                k.role = role;
                k.lane = lane;
                const auto& plan = plan_.roles[role];
                k.device.resize(meaning::words_of(plan.arena_bytes));
                k.host.resize(meaning::words_of(plan.host_arena_bytes));
                poison({reinterpret_cast<unsigned char*>(k.device.data()), plan.arena_bytes});
                poison({reinterpret_cast<unsigned char*>(k.host.data()), plan.host_arena_bytes});
                k.own.resize(p_.buffers.size());
                k.issued.assign(plan.events * plan_.rings, -1);
                k.done = k.issued;
                k.uses_left.resize(m_.runs);
                k.steps_left.assign(m_.runs, plan.steps);
                k.instance_of.resize(p_.parts.size());
                k.limit = how_.ahead;
                for (int b = 0; b < p_.buffers.size(); ++b) {
                    const dv::ir::buffer& x = p_.buffers[b];
                    if (x.role != role) continue;
                    if (x.output && x.slots < k.limit) k.limit = x.slots;
                    if (x.where != dv::ir::storage::input && x.where != dv::ir::storage::state && x.where != dv::ir::storage::constant) continue;
                    k.own[b].resize(meaning::words_of(x.bytes) * x.slots);
                    const piece all{reinterpret_cast<unsigned char*>(k.own[b].data()), static_cast<std::int64_t>(k.own[b].size()) * 8};
                    poison(all);
                    const dv::ir::symbol& s = g_.symbols[x.symbol];
                    if (x.where == dv::ir::storage::state && s.initialised) fill({all.data, x.bytes}, m_.state_seed(x.symbol, lane));
                    if (x.where == dv::ir::storage::constant) {
                        const piece value = m_.value(0, x.symbol, role, lane);
                        std::memcpy(all.data, value.data, static_cast<std::size_t>(value.bytes));
                    }
                }
            }
    }

    // Which parts meet: the members of a communicator at one place, or all parts of a member on one rank.
    void prepare_instances() {
        std::vector<std::array<int, 3>> keys;  // member, and two numbers that say where
        for (std::size_t k = 0; k < ranks_.size(); ++k) {
            rank& at = ranks_[k];
            for (const auto& step : plan_.steps.part(plan_.roles[at.role].first_step, plan_.roles[at.role].steps))
                for (int i = step.first_part; i < step.first_part + step.parts; ++i) {
                    const dv::ir::part& part = p_.parts[i];
                    if (part.role != at.role) throw failure("a step of role " + std::to_string(at.role) + " holds a part of another");
                    const dv::ir::member& member = p_.members[part.member];
                    std::array<int, 3> key{part.member, -1, static_cast<int>(k)};
                    int seat = part.seat, expected = 0;
                    if (member.communicator >= 0 && !member.local) {
                        const dv::ir::communicator& c = p_.communicators[member.communicator];
                        if (c.axes == 0) {
                            key = {part.member, 0, at.lane};
                            expected = c.roles;
                        } else {
                            const auto lanes = m_.neighbours(at.role, at.lane, c.axes);
                            key = {part.member, 1, lanes[0]};
                            expected = static_cast<int>(lanes.size());
                            for (int l = 0; l < expected; ++l)
                                if (lanes[l] == at.lane) seat = l;
                        }
                    }
                    int id = 0;
                    while (id < static_cast<int>(keys.size()) && keys[id] != key) ++id;
                    if (id == static_cast<int>(keys.size())) keys.push_back(key), instances_.push_back({}), expected_.push_back(expected);
                    ++instances_[id].total;
                    at.instance_of[i] = {id, seat};
                }
        }
        for (std::size_t i = 0; i < instances_.size(); ++i)
            if (expected_[i] > 0 && expected_[i] != instances_[i].total) throw failure("a communicator's member never comes");
        meetings_.resize(instances_.size() * m_.runs);
    }

    // ---- memory

    void poison(piece p) { fill(p, mix(0xdead + ++garbage_)); }

    piece bytes_of(rank& k, int buffer, int run) {
        const dv::ir::buffer& b = p_.buffers[buffer];
        const int slot = run % b.slots;
        if (b.where == dv::ir::storage::input || b.where == dv::ir::storage::state || b.where == dv::ir::storage::constant)
            return {reinterpret_cast<unsigned char*>(k.own[buffer].data() + slot * meaning::words_of(b.bytes)), b.bytes};
        std::vector<word>& memory = b.where == dv::ir::storage::host ? k.host : k.device;
        const dv::ir::placement& at = plan_.placements[buffer];
        if (b.bytes == 0) return {reinterpret_cast<unsigned char*>(memory.data()), 0};
        return {reinterpret_cast<unsigned char*>(memory.data()) + at.offset + slot * at.stride, b.bytes};
    }

    meeting& meeting_of(const rank& k, int part, int run) { return meetings_[run * instances_.size() + k.instance_of[part].first]; }
    const dv::ir::step& step_of(const rank& k, const entry& e) const { return plan_.steps[plan_.roles[k.role].first_step + e.step]; }

    std::string name(const rank& k) const { return "rank (role " + std::to_string(k.role) + ", lane " + std::to_string(k.lane) + ")"; }
    std::string name(const dv::ir::step& step) const {
        const dv::ir::member& m = p_.members[p_.vertices[step.vertex].first_member];
        return "vertex " + std::to_string(step.vertex) + " (" + dv::name_of(m.kind) + ", node " + std::to_string(m.node) + ", symbol " + std::to_string(m.symbol) + ")";
    }

    const dv::ir::graph& g_;
    const dv::ir::program& p_;
    const dv::plan::plan& plan_;
    meaning& m_;
    simulation how_;
    word garbage_ = 0;
    std::vector<part_view> parts_;
    std::vector<char> kept_;        // by root buffer: not garbage after its last use
    std::vector<int> uses_;         // by root buffer
    std::vector<int> holder_;       // by buffer: the graph's role whose node writes it
    std::vector<rank> ranks_;
    std::vector<instance> instances_;
    std::vector<int> expected_;
    std::vector<meeting> meetings_;
    std::vector<word> expect_;
};

}  // namespace detail

}  // namespace support
