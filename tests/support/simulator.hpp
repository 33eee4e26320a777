// Runs a program and its plan, all ranks in one thread: a seeded choice among everything that could happen next, as late or
// as early as streams, events and rendezvous allow. An operation begins (its results become garbage), reads, and writes, as
// three events; a value's bytes become garbage when its last user is through. Everything written is compared with what the
// interpreter says; the first difference, a deadlock or a broken rule is thrown as `failure`.
#pragma once

#include "interpreter.hpp"

#include <dovetail/launch/walk.hpp>

#include <array>
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

class simulator {
public:
    simulator(const dv::ir::graph& g, const dv::ir::program& p, const dv::plan::plan& plan, meaning& m, const simulation& how)
        : g_{g}, p_{p}, plan_{plan}, m_{m}, how_{how}, r_{mix(how.seed + 3)} {
        prepare_parts();
        prepare_buffers();
        prepare_ranks();
        prepare_instances();
    }

    void run() {
        const int actors = static_cast<int>(ranks_.size()) * actors_per_rank;
        std::vector<int> favour(actors);
        const int mode = r_.below(3);  // uniform; favourites for a while; a lane or host that is always late
        const int late = r_.below(actors);
        for (int left = 0;;) {
            if (mode == 1 && left-- == 0) {
                for (int i = 0; i < actors; ++i) favour[i] = i;
                for (int i = actors - 1; i > 0; --i) std::swap(favour[i], favour[r_.below(i + 1)]);
                left = 1 + r_.below(200);
            }
            const int start = mode == 1 ? 0 : r_.below(actors);
            bool moved = false;
            for (int i = 0; i < actors && !moved; ++i) {
                const int a = mode == 1 ? favour[i] : (start + i) % actors;
                if (mode == 2 && a == late && !r_.chance(2)) continue;
                moved = act(a);
            }
            if (!moved && mode == 2) moved = act(late);
            if (!moved) break;
        }
        for (const rank& k : ranks_)
            if (k.read < m_.runs) throw failure("deadlock: " + stuck());
        compare_states();
    }

private:
    static constexpr int actors_per_rank = dv::lane_count + 2;
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

    // ---- what may happen

    bool act(int actor) {
        rank& k = ranks_[actor / actors_per_rank];
        const int i = actor % actors_per_rank;
        if (i < dv::lane_count) return advance(k, i);
        return i == dv::lane_count ? issue(k) : collect(k);
    }

    struct backend {
        simulator& s;
        rank& k;
        int run;
        std::deque<entry>& queue(int lane) { return k.queues[s.how_.queue_of[lane]]; }
        void wait(int lane, int event, int ring, int step) {
            const int e = event * s.plan_.rings + ring;
            if (s.plan_.steps[s.plan_.roles[k.role].first_step + step].event != event) throw failure("a wait names a step that does not record its event");
            if (k.issued[e] < 0) throw failure("a wait is issued before any record of its event");
            queue(lane).push_back({what::wait, e, k.issued[e], step, run, 0});
        }
        void issue(int index, const dv::ir::step& step) { queue(step.lane).push_back({what::step, -1, 0, index, run, 0}); }
        void record(int lane, int event, int ring) {
            const int e = event * s.plan_.rings + ring;
            k.issued[e] = run;
            queue(lane).push_back({what::record, e, run, 0, run, 0});
        }
    };

    bool issue(rank& k) {
        if (k.next_run == m_.runs || k.next_run - k.read >= k.limit) return false;
        k.uses_left[k.next_run] = uses_;
        backend b{*this, k, k.next_run};
        dv::launch::walk(p_, plan_, k.role, k.next_run, b);
        ++k.next_run;
        return true;
    }

    // The caller reads the outputs of the oldest run, and they are garbage from then on.
    bool collect(rank& k) {
        if (k.read == k.next_run || k.steps_left[k.read] > 0) return false;
        for (int b = 0; b < p_.buffers.size(); ++b) {
            const dv::ir::buffer& x = p_.buffers[b];
            if (!x.output || x.role != k.role) continue;
            const int role = holder_[b] >= 0 ? holder_[b] : k.role;
            const dv::ir::node& n = g_.nodes[g_.symbols[x.symbol].node];
            if (n.role >= 0 && dv::is_communication(n.kind) && !receives(n.kind, n.root, position(n, k.lane))) continue;
            const piece now = bytes_of(k, b, k.read), then = m_.value(k.read, x.symbol, role, k.lane);
            if (std::memcmp(now.data, then.data, static_cast<std::size_t>(now.bytes)) != 0)
                throw failure("output symbol " + std::to_string(x.symbol) + " is wrong on " + name(k) + " in run " + std::to_string(k.read));
            poison(now);
        }
        ++k.read;
        return true;
    }

    int position(const dv::ir::node& n, int lane) const {
        const auto lanes = m_.neighbours(n.role, lane, n.axes);
        for (int i = 0; i < static_cast<int>(lanes.size()); ++i)
            if (lanes[i] == lane) return i;
        return -1;
    }

    bool advance(rank& k, int queue) {
        if (k.queues[queue].empty()) return false;
        entry& e = k.queues[queue].front();
        if (e.kind == what::wait && k.done[e.event] < e.target) return false;
        if (e.kind == what::record) k.done[e.event] = e.target;
        if (e.kind == what::step) {
            if (!proceed(k, e)) return false;
            if (e.phase < 3) return true;
        }
        k.queues[queue].pop_front();
        return true;
    }

    // One event of a step, if one can happen now.
    bool proceed(rank& k, entry& e) {
        const dv::ir::step& step = step_of(k, e);
        if (e.phase == 0) {
            begin(k, step, e.run);
            e.phase = 1;
            return true;
        }
        for (int i = step.first_part; i < step.first_part + step.parts; ++i) {
            const meeting& m = meeting_of(k, i, e.run);
            if ((e.phase == 1 ? m.begun : m.read) < instances_[k.instance_of[i].first].total) return false;
        }
        if (e.phase == 1) {
            for (int i = step.first_part; i < step.first_part + step.parts; ++i) read(k, i, e.run);
            e.phase = 2;
            return true;
        }
        finish(k, step, e.run);
        e.phase = 3;
        return true;
    }

    std::vector<piece> own_arguments(rank& k, const dv::ir::step& step, int run) {
        std::vector<piece> all;
        for (int i = step.first_part; i < step.first_part + step.parts; ++i)
            for (int b : parts_[i].arguments) all.push_back(bytes_of(k, b, run));
        return all;
    }
    static bool apart(piece p, const std::vector<piece>& all) {
        for (const piece& q : all)
            if (p.data < q.data + q.bytes && q.data < p.data + p.bytes) return false;
        return true;
    }
    word scratch_seed(const rank& k, int buffer, int run) const { return mix(mix(static_cast<word>(run) + 77) + static_cast<word>(&k - ranks_.data())) + static_cast<word>(buffer); }

    void begin(rank& k, const dv::ir::step& step, int run) {
        const auto arguments = own_arguments(k, step, run);
        for (int i = step.first_part; i < step.first_part + step.parts; ++i) {
            for (const auto* list : {&parts_[i].results, &parts_[i].scratch})
                for (int b : *list)
                    if (const piece to = bytes_of(k, b, run); apart(to, arguments)) fill(to, scratch_seed(k, b, run));
            meeting& m = meeting_of(k, i, run);
            ++m.begun;
            const std::size_t seats = static_cast<std::size_t>(k.instance_of[i].second) + 1;
            if (m.arguments.size() < seats) m.arguments.resize(seats);
        }
    }

    void read(rank& k, int part, int run) {
        meeting& m = meeting_of(k, part, run);
        ++m.read;
        auto& kept = m.arguments[k.instance_of[part].second];
        for (int b : parts_[part].arguments) {
            const piece from = bytes_of(k, b, run);
            kept.emplace_back(meaning::words_of(from.bytes));
            if (from.bytes > 0) std::memcpy(kept.back().data(), from.data, static_cast<std::size_t>(from.bytes));
        }
    }

    static piece snapshot(std::vector<word>& words, std::int64_t bytes) { return {reinterpret_cast<unsigned char*>(words.data()), bytes}; }

    // Nothing that the step uses may have changed under it; then it writes, and its values are looked at.
    void finish(rank& k, const dv::ir::step& step, int run) {
        const auto arguments = own_arguments(k, step, run);
        for (int i = step.first_part; i < step.first_part + step.parts; ++i) {
            auto& kept = meeting_of(k, i, run).arguments[k.instance_of[i].second];
            for (std::size_t a = 0; a < parts_[i].arguments.size(); ++a) {
                const piece now = bytes_of(k, parts_[i].arguments[a], run);
                if (now.bytes > 0 && std::memcmp(now.data, kept[a].data(), static_cast<std::size_t>(now.bytes)) != 0)
                    throw failure("an argument of " + name(step) + " changed while it ran, on " + name(k) + " in run " + std::to_string(run));
            }
            for (const auto* list : {&parts_[i].results, &parts_[i].scratch})
                for (int b : *list) {
                    const piece to = bytes_of(k, b, run);
                    if (!apart(to, arguments)) continue;
                    expect_.resize(meaning::words_of(to.bytes));
                    fill({reinterpret_cast<unsigned char*>(expect_.data()), to.bytes}, scratch_seed(k, b, run));
                    if (to.bytes > 0 && std::memcmp(to.data, expect_.data(), static_cast<std::size_t>(to.bytes)) != 0)
                        throw failure("memory of " + name(step) + " was written by another while it ran, on " + name(k) + " in run " + std::to_string(run));
                }
        }
        for (int i = step.first_part; i < step.first_part + step.parts; ++i) write(k, step, i, run);
        for (int i = step.first_part; i < step.first_part + step.parts; ++i) {
            const dv::ir::part& part = p_.parts[i];
            for (const auto& a : p_.accesses.part(part.first_access, part.accesses))
                if (const int root = root_of(a.buffer); --k.uses_left[run][root] == 0 && kept_[root] == 0) poison(bytes_of(k, root, run));
        }
        --k.steps_left[run];
    }

    void write(rank& k, const dv::ir::step& step, int i, int run) {
        part_view& v = parts_[i];
        const dv::ir::member& member = p_.members[p_.parts[i].member];
        meeting& m = meeting_of(k, i, run);
        const int seat = k.instance_of[i].second;
        std::vector<piece> in, out;
        for (int b : v.results) out.push_back(bytes_of(k, b, run));
        if (member.kind == dv::op_kind::input) {
            const dv::ir::symbol& s = g_.symbols[member.symbol];
            fill(out[0], m_.input_seed(run, member.symbol, s.role >= 0 ? s.role : k.role, k.lane));
            return;
        }
        if (member.kind == dv::op_kind::compute) {
            for (std::size_t a = 0; a < v.arguments.size(); ++a) in.push_back(snapshot(m.arguments[seat][a], p_.buffers[v.arguments[a]].bytes));
            const word effect = apply(member.op, in, out);
            if (effect != m_.effects[run][m_.at(v.graph_role, k.lane) * g_.nodes.size() + v.node])
                throw failure(name(step) + " got wrong arguments on " + name(k) + " in run " + std::to_string(run));
        } else {
            for (auto& given : m.arguments) in.push_back(given.empty() ? piece{} : snapshot(given[0], static_cast<std::int64_t>(given[0].size()) * 8));
            if (!out.empty()) receive({dv::is_communication(member.kind) ? member.kind : dv::op_kind::transfer, member.reduce, member.root, member.offset, member.open}, in, seat, out[0]);
        }
        if (v.node < 0 || (dv::is_communication(member.kind) && !receives(member.kind, member.root, seat))) return;
        for (std::size_t j = 0; j < out.size(); ++j) {
            const piece then = m_.result(run, m_.at(v.graph_role, k.lane), v.node, v.result_index[j]);
            if (then.bytes != out[j].bytes || (then.bytes > 0 && std::memcmp(out[j].data, then.data, static_cast<std::size_t>(then.bytes)) != 0))
                throw failure(name(step) + " gave a wrong result on " + name(k) + " in run " + std::to_string(run));
        }
    }

    void compare_states() {
        for (rank& k : ranks_)
            for (int b = 0; b < p_.buffers.size(); ++b) {
                const dv::ir::buffer& x = p_.buffers[b];
                if (x.where != dv::ir::storage::state || x.role != k.role) continue;
                const piece now = bytes_of(k, b, 0), then = m_.value(0, x.symbol, g_.symbols[x.symbol].role, k.lane);
                if (now.bytes > 0 && std::memcmp(now.data, then.data, static_cast<std::size_t>(now.bytes)) != 0)
                    throw failure("state symbol " + std::to_string(x.symbol) + " is wrong on " + name(k) + " at the end");
            }
    }

    std::string name(const rank& k) const { return "rank (role " + std::to_string(k.role) + ", lane " + std::to_string(k.lane) + ")"; }
    std::string name(const dv::ir::step& step) const {
        const dv::ir::member& m = p_.members[p_.vertices[step.vertex].first_member];
        return "vertex " + std::to_string(step.vertex) + " (" + dv::name_of(m.kind) + ", node " + std::to_string(m.node) + ", symbol " + std::to_string(m.symbol) + ")";
    }
    std::string stuck() const {
        std::string text;
        for (const rank& k : ranks_)
            for (int q = 0; q < dv::lane_count; ++q) {
                if (k.queues[q].empty()) continue;
                const entry& e = k.queues[q].front();
                text += "\n  " + name(k) + " queue " + std::to_string(q) + ", run " + std::to_string(e.run) + ": ";
                if (e.kind == what::step) text += name(step_of(k, e)) + (e.phase == 0 ? " not begun" : " begun");
                else text += e.kind == what::wait ? "waits for an event of step " + std::to_string(e.step) : "records";
            }
        return text;
    }

    const dv::ir::graph& g_;
    const dv::ir::program& p_;
    const dv::plan::plan& plan_;
    meaning& m_;
    simulation how_;
    chooser r_;
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

// Throws `failure` where the plan does not do what the graph means.
inline void simulate(const dv::ir::graph& g, const dv::ir::program& p, const dv::plan::plan& plan, meaning& m, const simulation& how) {
    detail::simulator{g, p, plan, m, how}.run();
}

}  // namespace support
