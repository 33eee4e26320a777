// The laws of every plan, checked by brute force without code of the library: all runs are unrolled step by step, and the happens-before
// order follows from streams and waits alone. Each check returns the first violation, or nothing.
#pragma once

#include "antichain.hpp"

#include <dovetail/core/display.hpp>
#include <dovetail/plan/plan.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace support {

namespace dv = dovetail;

// Every field of a table as a number with its name; two tables are equal where these are. Names of operations are as a person
// writes them, so that compilers agree; where something was declared is not part of it.
struct listing {
    std::vector<const char*> names;
    std::vector<std::int64_t> values;

    template <class... T>
    void add(const char* name, T... value) {
        ((names.push_back(name), values.push_back(static_cast<std::int64_t>(value))), ...);
    }
    std::uint64_t hash() const {
        std::uint64_t h = 1469598103934665603ull;
        for (std::int64_t v : values) h = (h ^ static_cast<std::uint64_t>(v)) * 1099511628211ull;
        return h;
    }
};

inline void list_tag(listing& l, const char* name, const dv::tag* t) {
    std::uint64_t h = 1469598103934665603ull;
    for (unsigned char c : dv::display(*t)) h = (h ^ c) * 1099511628211ull;
    l.add(name, h);
}

inline listing listed(const dv::ir::program& p) {
    listing l;
    l.add("sizes", p.buffers.size(), p.accesses.size(), p.participations.size(), p.members.size(), p.tasks.size(), p.communicators.size(),
          p.communicator_roles.size(), p.roles, p.symmetric_sets);
    for (const auto& b : p.buffers) {
        l.add("buffer", b.where, b.role, b.symbol, b.bytes, b.slots, b.output, b.alias, b.symmetric_set);
        l.add("buffer.type", b.type.type, b.type.rank);
        for (int i = 0; i < b.type.rank; ++i) l.add("buffer.extent", b.type.extent[i]);
    }
    for (const auto& a : p.accesses) l.add("access", a.buffer, a.mode);
    for (const auto& x : p.participations) l.add("part", x.role, x.member, x.group_index, x.first_access, x.accesses);
    for (const auto& x : p.participations)
        if (x.awaited > 0) l.add("awaited", x.first_access, x.awaited);
    for (const auto& m : p.members) {
        l.add("member", m.kind, m.node, m.symbol, m.reduce, m.communicator, m.root, m.offset, m.zero_edge, m.local);
        if (m.kind == dv::op_kind::permute)
            for (int i = 0; i < m.op->pair_count; ++i) l.add("member.pair", m.op->pairs[i].source, m.op->pairs[i].target);
        if (m.kind == dv::op_kind::compute) list_tag(l, "member.operation", m.op->name);
    }
    for (const auto& v : p.tasks) l.add("task", v.first_participation, v.participations, v.first_member, v.members, v.stream, v.kind);
    for (const auto& c : p.communicators) l.add("communicator", c.axes, c.first_role, c.roles);
    for (int r : p.communicator_roles) l.add("communicator role", r);
    if (!dv::ir::has_parts(p)) return l;
    for (const auto& x : p.leaves) l.add("leaf", x.begin, x.bytes);
    for (const auto& b : p.buffers) l.add("leaves of a buffer", b.first_leaf, b.leaves);
    for (const auto& a : p.accesses) l.add("leaves of an access", a.leaf, a.leaves);
    return l;
}

inline listing listed(const dv::plan::plan& p) {
    listing l;
    l.add("sizes", p.order.size(), p.steps.size(), p.waits.size(), p.roles.size(), p.placements.size());
    l.add("plan", p.overlapped, p.event_slots, p.predicted, p.predicted_sequential);
    for (int v : p.order) l.add("order", v);
    for (const auto& s : p.steps)
        l.add("step", s.task, s.first_participation, s.participations, s.stream, s.first_wait, s.waits, s.event, s.start, s.end);
    for (const auto& w : p.waits) l.add("wait", w.event, w.distance, w.step);
    for (const auto& r : p.roles) l.add("role", r.first_step, r.steps, r.events, r.arena_bytes, r.host_arena_bytes, r.state_bytes);
    for (const auto& a : p.placements) l.add("placement", a.offset, a.stride);
    return l;
}

// The first field in which two tables differ; empty where they are equal.
inline std::string difference(const listing& a, const listing& b) {
    for (std::size_t i = 0; i < a.values.size() && i < b.values.size(); ++i)
        if (a.values[i] != b.values[i])
            return std::string(a.names[i]) + ", value " + std::to_string(i) + ": " + std::to_string(a.values[i]) + " and " +
                   std::to_string(b.values[i]);
    return a.values.size() == b.values.size() ? "" : "sizes";
}

using symmetric_pair = std::pair<int, int>;

// The steps of one role in several runs.
class unrolled {
public:
    unrolled(const dv::ir::program& p, const dv::plan::plan& plan, int role, int runs)
        : p_{p}, plan_{plan}, role_{role}, runs_{runs}, steps_{plan.roles[role].steps} {
        earlier_.resize(static_cast<std::size_t>(steps_ * runs), std::vector<bool>(static_cast<std::size_t>(steps_ * runs), false));
        for (int run = 0; run < runs; ++run)
            for (int i = 0; i < steps_; ++i)
                for (int from : directly_before(run, i)) {
                    std::vector<bool>& mine = earlier_[at(run, i)];
                    mine[static_cast<std::size_t>(from)] = true;
                    for (std::size_t k = 0; k < mine.size(); ++k)
                        if (earlier_[static_cast<std::size_t>(from)][k]) mine[k] = true;
                }
    }

    // Every wait between streams refers to an existing record, and is not implied by anything else.
    std::string waits() const {
        for (int i = 0; i < steps_; ++i)
            for (const dv::ir::wait& w :
                 step(i).waits == 0 ? dv::span<const dv::ir::wait>{} : plan_.waits.subspan(step(i).first_wait, step(i).waits)) {
                const std::string where = "step " + std::to_string(i) + " of role " + std::to_string(role_) + " waits for step " +
                                          std::to_string(w.step) + " of " + std::to_string(w.distance) + " runs ago";
                if (w.step < 0 || w.step >= steps_ || step(w.step).event != w.event) return where + ", which records another event";
                if (w.distance == 0 ? w.step >= i : w.distance > plan_.event_slots || (w.distance == plan_.event_slots && w.step <= i))
                    return where + ": another record is there";
                const int recorder = (runs_ - 1 - w.distance) * steps_ + w.step;
                int times = 0;
                for (int from : directly_before(runs_ - 1, i))
                    times += from == recorder || earlier_[static_cast<std::size_t>(from)][static_cast<std::size_t>(recorder)] ? 1 : 0;
                if (times != 1) return where + ", which is known without";
            }
        return {};
    }

    // Two buffers, or two runs of one, that share bytes are ordered as wholes; within a buffer its definition comes first, and
    // the accesses of a state in written order.
    std::string memory() const {
        std::vector<life> lives;
        for (int run = 0; run < runs_; ++run)
            for (int b = 0; b < p_.buffers.size(); ++b)
                for (int leaf = p_.buffers[b].first_leaf; leaf < p_.buffers[b].first_leaf + p_.buffers[b].leaves; ++leaf)
                    if (p_.buffers[b].role == role_ && p_.buffers[b].bytes > 0 && p_.buffers[b].where != dv::ir::storage::constant)
                        lives.push_back(life_of(b, leaf, run));
        for (const life& x : lives)
            if (const std::string bad = within(x); !bad.empty()) return bad;
        for (std::size_t i = 0; i < lives.size(); ++i)
            for (std::size_t j = i + 1; j < lives.size(); ++j) {
                const life &x = lives[i], &y = lives[j];  // y in the same run or a later one
                if (x.space != y.space || x.begin >= y.end || y.begin >= x.end) continue;
                const std::string where = text(x) + " and " + text(y) + " share bytes";
                const bool one_state = x.buffer == y.buffer && p_.buffers[x.buffer].where == dv::ir::storage::state;
                if (one_state) {
                    for (const use& a : x.uses)
                        for (const use& b : y.uses)
                            if ((dv::writes(a.mode) || dv::writes(b.mode)) && !before(a.step, b.step)) return where + ", not ordered";
                    continue;
                }
                const bool one_root = root(x.buffer) == root(y.buffer) && x.run == y.run;
                const bool forward = wholly_before(x, y, one_root), backward = x.run == y.run && wholly_before(y, x, one_root);
                if (!forward && !backward) return where + ", alive at once";
                // An output is read by the caller, until its slot is used again.
                if (p_.buffers[x.buffer].output && forward && y.run < x.run + p_.buffers[x.buffer].slots)
                    return where + ", the first one an output";
                if (p_.buffers[y.buffer].output && backward) return where + ", the second one an output";
            }
        return {};
    }

    // Pairs of symmetric_sets of which nothing orders the buffers on this role.
    std::vector<symmetric_pair> unordered_symmetric_sets() const {
        std::vector<life> lives;
        for (int b = 0; b < p_.buffers.size(); ++b)
            if (p_.buffers[b].role == role_ && p_.buffers[b].symmetric_set >= 0 && p_.buffers[b].alias < 0) lives.push_back(whole_life(b));
        std::vector<symmetric_pair> pairs;
        for (const life& x : lives)
            for (const life& y : lives)
                if (p_.buffers[x.buffer].symmetric_set < p_.buffers[y.buffer].symmetric_set && !ordered(x, y) && !ordered(y, x))
                    pairs.push_back({p_.buffers[x.buffer].symmetric_set, p_.buffers[y.buffer].symmetric_set});
        return pairs;
    }

    // Bytes of the arena over the heaviest set of buffers that nothing orders within a run. `apart`: symmetric_sets that lie apart because
    // other roles need it; up to ten of them stand in the set in front of the others, all ways are tried.
    double ratio(const std::vector<symmetric_pair>& apart = {}) const {
        std::vector<life> lives;
        std::vector<std::int64_t> weights;
        for (int b = 0; b < p_.buffers.size(); ++b) {
            const dv::ir::buffer& x = p_.buffers[b];
            if (x.role != role_ || x.alias >= 0 || (x.where != dv::ir::storage::arena && x.where != dv::ir::storage::workspace)) continue;
            lives.push_back(whole_life(b));
            weights.push_back(x.slots * dv::ir::aligned(x.bytes));
        }
        std::int64_t heaviest = heaviest_antichain(weights, [&](int i, int j) { return ordered(lives[i], lives[j]); });
        std::vector<int> front;
        for (std::size_t i = 0; i < lives.size() && front.size() < 10; ++i)
            for (const symmetric_pair& pair : apart)
                if (const int c = p_.buffers[lives[i].buffer].symmetric_set; c == pair.first || c == pair.second) {
                    front.push_back(static_cast<int>(i));
                    break;
                }
        for (unsigned set = 1; set < 1u << front.size(); ++set)
            heaviest = std::max(heaviest, heaviest_with(lives, weights, front, set, apart));
        return heaviest == 0 ? 1.0 : static_cast<double>(plan_.roles[role_].arena_bytes) / static_cast<double>(heaviest);
    }

private:
    struct use {
        int step = 0;
        int node = -1;
        dv::access_mode mode = dv::access_mode::read;
    };
    struct life {
        int buffer = 0, run = 0, space = 0;
        std::int64_t begin = 0, end = 0;
        bool output = false;
        std::vector<use> uses;
    };

    std::size_t at(int run, int i) const { return static_cast<std::size_t>(run * steps_ + i); }
    const dv::ir::step& step(int i) const { return plan_.steps[plan_.roles[role_].first_step + i]; }
    bool before(int a, int b) const { return earlier_[static_cast<std::size_t>(b)][static_cast<std::size_t>(a)]; }
    int root(int b) const { return p_.buffers[b].alias >= 0 ? p_.buffers[b].alias : b; }
    std::string text(const life& x) const { return "buffer " + std::to_string(x.buffer) + " of run " + std::to_string(x.run); }

    std::vector<int> directly_before(int run, int i) const {
        std::vector<int> list;
        for (int k = run * steps_ + i - 1; k >= 0 && list.empty(); --k)
            if (step(k % steps_).stream == step(i).stream) list.push_back(k);
        for (int w = step(i).first_wait; w < step(i).first_wait + step(i).waits; ++w)
            if (plan_.waits[w].distance <= run) list.push_back((run - plan_.waits[w].distance) * steps_ + plan_.waits[w].step);
        return list;
    }
    life life_of(int b, int leaf, int run) const {
        const dv::ir::buffer& x = p_.buffers[b];
        const dv::ir::placement& where = plan_.placements[b];
        const bool placed = where.offset >= 0;
        life l;
        l.buffer = b;
        l.run = run;
        l.space = !placed ? 2 + root(b) : x.where == dv::ir::storage::host ? 1 : 0;
        l.begin = (placed ? where.offset + run % x.slots * where.stride : run % x.slots * dv::ir::aligned(x.bytes)) + p_.leaves[leaf].begin;
        l.end = l.begin + p_.leaves[leaf].bytes;
        l.output = x.output;
        for (int i = 0; i < steps_; ++i)
            for (const dv::ir::participation& participation :
                 p_.participations.subspan(step(i).first_participation, step(i).participations))
                for (const dv::ir::access& a : p_.accesses.subspan(participation.first_access, participation.touches()))
                    if (a.buffer == b && leaf >= a.leaf && leaf < a.leaf + a.leaves)
                        l.uses.push_back({run * steps_ + i, p_.members[participation.member].node, a.mode});
        return l;
    }
    life all_leaves(int b) const {
        const dv::ir::buffer& x = p_.buffers[b];
        life l = life_of(b, x.first_leaf, 0);
        l.end = l.begin + x.bytes;
        for (int leaf = x.first_leaf + 1; leaf < x.first_leaf + x.leaves; ++leaf)
            for (const use& u : life_of(b, leaf, 0).uses) l.uses.push_back(u);
        return l;
    }
    std::string within(const life& x) const {
        const bool state = p_.buffers[x.buffer].where == dv::ir::storage::state;
        for (const use& a : x.uses)
            for (const use& b : x.uses) {
                if (a.step == b.step || !dv::writes(a.mode)) continue;
                if (!state && dv::writes(b.mode)) return text(x) + " is written twice";
                const bool ordered = state && b.node < a.node ? before(b.step, a.step) : before(a.step, b.step);
                if (!ordered)
                    return text(x) + ": steps " + std::to_string(a.step % steps_) + " and " + std::to_string(b.step % steps_) +
                           " are not ordered";
            }
        return {};
    }
    // A buffer and the buffers that alias it.
    life whole_life(int b) const {
        life l = all_leaves(b);
        for (int a = 0; a < p_.buffers.size(); ++a)
            if (p_.buffers[a].alias == b) {
                l.output = l.output || p_.buffers[a].output;
                for (const use& u : all_leaves(a).uses) l.uses.push_back(u);
            }
        return l;
    }
    bool ordered(const life& x, const life& y) const { return !x.output && !copied(x) && !copied(y) && wholly_before(x, y, false); }
    // Buffers with several slots share bytes with no other.
    bool copied(const life& x) const { return p_.buffers[x.buffer].slots > 1; }
    // The heaviest set that holds these of `front`; 0 where they need not lie apart.
    std::int64_t heaviest_with(const std::vector<life>& lives, const std::vector<std::int64_t>& weights, const std::vector<int>& front,
                               unsigned set, const std::vector<symmetric_pair>& apart) const {
        const auto together = [&](int i, int j) { return !ordered(lives[i], lives[j]) && !ordered(lives[j], lives[i]); };
        const auto kept_apart = [&](int i, int j) {
            const int a = p_.buffers[lives[i].buffer].symmetric_set, b = p_.buffers[lives[j].buffer].symmetric_set;
            return std::find(apart.begin(), apart.end(), symmetric_pair{std::min(a, b), std::max(a, b)}) != apart.end();
        };
        std::vector<int> members;
        std::int64_t bytes = 0;
        for (std::size_t k = 0; k < front.size(); ++k) {
            if ((set >> k & 1) == 0) continue;
            for (const int other : members)
                if (!together(front[k], other) && !kept_apart(front[k], other)) return 0;
            members.push_back(front[k]);
            bytes += weights[front[k]];
        }
        std::vector<int> rest;
        std::vector<std::int64_t> own;
        for (std::size_t i = 0; i < lives.size(); ++i) {
            bool beside = true;
            for (const int m : members) beside = beside && m != static_cast<int>(i) && together(m, static_cast<int>(i));
            if (!beside) continue;
            rest.push_back(static_cast<int>(i));
            own.push_back(weights[i]);
        }
        return bytes + heaviest_antichain(own, [&](int i, int j) { return ordered(lives[rest[i]], lives[rest[j]]); });
    }
    bool wholly_before(const life& x, const life& y, bool may_share_step) const {
        for (const use& a : x.uses)
            for (const use& b : y.uses)
                if (!before(a.step, b.step) && !(may_share_step && a.step == b.step)) return false;
        return true;
    }

    const dv::ir::program p_;
    const dv::plan::plan plan_;
    const int role_, runs_, steps_;
    std::vector<std::vector<bool>> earlier_;   // by instance of a step: those that are complete before it starts
};

// Bytes of a role's arena over what it must hold: the heaviest set of which no two may share a byte, because of this role's
// lifetimes or, looked at only where the arena is more than a tenth above that, because of another role's, of buffers that lie at
// equal offsets on several roles.
inline double arena_ratio(const dv::ir::program& p, const dv::plan::plan& plan, int role) {
    const unrolled own{p, plan, role, 1};
    const double alone = own.ratio();
    if (alone <= 1.10 + 1e-9 || p.symmetric_sets < 2) return alone;
    std::vector<symmetric_pair> apart;
    for (int other = 0; other < p.roles; ++other)
        for (const symmetric_pair& pair : unrolled{p, plan, other, 1}.unordered_symmetric_sets()) apart.push_back(pair);
    return own.ratio(apart);
}

// What the members of a collective over roles pass in their arenas lies where the first one's does, run after run, or else one place
// for both would, by way of other collectives, be one place for two buffers of a role.
inline std::string broken_offsets(const dv::ir::program& p, const dv::plan::plan& plan) {
    const auto number = [&](int b) { return p.buffers[b].symmetric_set < 0 ? -1 - b : p.buffers[b].symmetric_set; };
    const auto tied_to_one_role = [&](int a, int b) {
        for (int i = 0; i < p.buffers.size(); ++i)
            for (int j = 0; j < p.buffers.size(); ++j)
                if (i != j && number(i) == number(a) && number(j) == number(b) && p.buffers[i].role == p.buffers[j].role) return true;
        return false;
    };
    for (const dv::ir::task& v : p.tasks)
        for (int m = v.first_member; m < v.first_member + v.members; ++m) {
            if (p.roles == 1 || p.members[m].kind == dv::op_kind::transfer) continue;
            // In a broadcast the argument of one that gets nothing is passed as its result.
            const auto gives_only = [&](const dv::ir::participation& x) {
                return p.members[m].kind == dv::op_kind::broadcast && x.accesses == 1;
            };
            for (const bool writes : {false, true}) {
                struct place {
                    int buffer;
                    std::int64_t begin;
                };
                std::vector<place> passed;
                for (const bool last : {false, true})
                    for (const dv::ir::participation& x : p.participations.subspan(v.first_participation, v.participations))
                        for (const dv::ir::access& a : p.accesses.subspan(x.first_access, x.accesses)) {
                            const bool gives = gives_only(x) && a.mode == dv::access_mode::read;
                            if (x.member == m && gives == last && (gives || a.mode == dv::access_mode::write) == writes &&
                                p.buffers[a.buffer].where == dv::ir::storage::arena)
                                passed.push_back({dv::ir::owner_of(p, a.buffer), p.leaves[a.leaf].begin});
                        }
                for (std::size_t i = 1; i < passed.size(); ++i) {
                    const int a = passed[0].buffer, b = passed[i].buffer;
                    // Blocks of unlike buffers, or unlike blocks, cannot lie alike where the buffers do.
                    if (passed[0].begin != passed[i].begin || p.buffers[a].bytes != p.buffers[b].bytes) continue;
                    const auto &one = plan.placements[a], &other = plan.placements[b];
                    const int slots = p.buffers[a].slots;
                    const bool alike =
                        one.offset == other.offset && slots == p.buffers[b].slots && (slots == 1 || one.stride == other.stride);
                    if (number(a) == number(b) ? !alike : !tied_to_one_role(a, b))
                        return "buffers " + std::to_string(a) + " and " + std::to_string(b) + " of one collective lie at " +
                               std::to_string(one.offset) + " and " + std::to_string(other.offset);
                }
            }
        }
    return {};
}

// A number of runs in which all slots of buffers and events are reused.
inline int runs_to_unroll(const dv::ir::program& p, const dv::plan::plan& plan) {
    int most = plan.event_slots;
    for (const auto& b : p.buffers) most = b.slots > most ? b.slots : most;
    return most + 2;
}

inline std::string broken_order(const dv::ir::program& p, const dv::plan::plan& plan) {
    for (int role = 0; role < p.roles; ++role) {
        const unrolled u{p, plan, role, runs_to_unroll(p, plan)};
        if (const std::string bad = u.waits(); !bad.empty()) return bad;
        if (const std::string bad = u.memory(); !bad.empty()) return "role " + std::to_string(role) + ": " + bad;
    }
    return {};
}

// The sizes of a role's arenas and states are the sums of their contents.
inline std::string broken_sizes(const dv::ir::program& p, const dv::plan::plan& plan) {
    for (int role = 0; role < p.roles; ++role) {
        std::int64_t device = 0, host = 0, states = 0;
        for (int b = 0; b < p.buffers.size(); ++b) {
            const dv::ir::buffer& x = p.buffers[b];
            if (x.role != role) continue;
            if (x.where == dv::ir::storage::state) states += dv::ir::aligned(x.bytes);
            const dv::ir::placement& where = plan.placements[b];
            if (where.offset < 0) continue;
            std::int64_t& end = x.where == dv::ir::storage::host ? host : device;
            const std::int64_t mine = where.offset + (x.slots - 1) * where.stride + dv::ir::aligned(x.bytes);
            end = mine > end ? mine : end;
        }
        const dv::ir::role_plan& r = plan.roles[role];
        if (r.arena_bytes != device || r.host_arena_bytes != host || r.state_bytes != states)
            return "role " + std::to_string(role) + " needs " + std::to_string(device) + ", " + std::to_string(host) + " and " +
                   std::to_string(states) + " bytes, the plan says " + std::to_string(r.arena_bytes) + ", " +
                   std::to_string(r.host_arena_bytes) + " and " + std::to_string(r.state_bytes);
    }
    return {};
}

}  // namespace support
