#include "simulator.hpp"

#include "simulated_ranks.hpp"

#include <dovetail/launch/engine/walk.hpp>

#include <cstring>

namespace support {

namespace detail {
namespace {

class simulator : simulated_ranks {
public:
    simulator(const dv::ir::graph& g, const dv::ir::program& p, const dv::plan::plan& plan, meaning& m, const simulation& how)
        : simulated_ranks{g, p, plan, m, how}, r_{mix(how.seed + 3)} {}

    void run() {
        const int actors = static_cast<int>(ranks_.size()) * actors_per_rank;
        std::vector<int> favour(actors);
        const int mode = r_.below(3);  // uniform; favourites for a while; a stream or host that is always late
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
    static constexpr int actors_per_rank = dv::stream_count + 2;

    // ---- what may happen

    bool act(int actor) {
        rank& k = ranks_[actor / actors_per_rank];
        const int i = actor % actors_per_rank;
        if (i < dv::stream_count) return advance(k, i);
        return i == dv::stream_count ? issue(k) : collect(k);
    }

    struct backend {
        simulator& s;
        rank& k;
        int run;
        std::deque<entry>& queue(int stream) { return k.queues[s.how_.queue_of[stream]]; }
        void wait(int stream, int event, int event_slot, int step) {
            const int e = event * s.plan_.event_slots + event_slot;
            if (s.plan_.steps[s.plan_.roles[k.role].first_step + step].event != event)
                throw failure("a wait names a step that does not record its event");
            if (k.issued[e] < 0) throw failure("a wait is issued before any record of its event");
            queue(stream).push_back({what::wait, e, k.issued[e], step, run, 0});
        }
        void issue(int index, const dv::ir::step& step) { queue(step.stream).push_back({what::step, -1, 0, index, run, 0}); }
        void record(int stream, int event, int event_slot) {
            const int e = event * s.plan_.event_slots + event_slot;
            k.issued[e] = run;
            queue(stream).push_back({what::record, e, run, 0, run, 0});
        }
    };

    bool issue(rank& k) {
        if (k.next_run == m_.runs || k.next_run - k.read >= k.limit) return false;
        k.uses_left[k.next_run] = uses_;
        backend b{*this, k, k.next_run};
        dv::launch::walk(plan_, k.role, k.next_run, b);
        ++k.next_run;
        return true;
    }

    // The caller reads the outputs of the oldest run, and they are garbage from then on.
    bool collect(rank& k) {
        if (k.read == k.next_run || k.steps_left[k.read] > 0) return false;
        for (int role = 0; role < g_.roles.size(); ++role) {
            if (role != k.role && !g_.single_rank) continue;
            for (const int symbol : m_.outputs[m_.at(role, k.position)]) {
                const int b = output_of(k, symbol, role);
                if (b < 0) throw failure("output symbol " + std::to_string(symbol) + " is not on " + name(k));
                if (!same(bytes_of(k, b, k.read), m_.value(k.read, symbol, role, k.position)))
                    throw failure("output symbol " + std::to_string(symbol) + " is wrong on " + name(k) + " in run " +
                                  std::to_string(k.read));
            }
        }
        for (int b = 0; b < p_.buffers.size(); ++b)
            if (p_.buffers[b].output && p_.buffers[b].role == k.role) poison(bytes_of(k, b, k.read));
        ++k.read;
        return true;
    }
    // The buffer in which a role of the graph has an output.
    int output_of(const rank& k, int symbol, int role) const {
        for (int b = 0; b < p_.buffers.size(); ++b)
            if (p_.buffers[b].symbol == symbol && p_.buffers[b].output && p_.buffers[b].role == k.role && holder_[b] == role) return b;
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
        for (int i = step.first_participation; i < step.first_participation + step.participations; ++i) {
            const meeting& m = meeting_of(k, i, e.run);
            if ((e.phase == 1 ? m.begun : m.read) < instances_[k.instance_of[i].first].total) return false;
        }
        if (e.phase == 1) {
            for (int i = step.first_participation; i < step.first_participation + step.participations; ++i) read(k, i, e.run);
            e.phase = 2;
            return true;
        }
        finish(k, step, e.run);
        e.phase = 3;
        return true;
    }

    std::vector<piece> own_arguments(rank& k, const dv::ir::step& step, int run) {
        std::vector<piece> all;
        for (int i = step.first_participation; i < step.first_participation + step.participations; ++i)
            for (int a : participations_[i].arguments) all.push_back(touched_by(k, a, run));
        return all;
    }
    static bool apart(piece p, const std::vector<piece>& all) {
        for (const piece& q : all)
            if (p.data < q.data + q.bytes && q.data < p.data + p.bytes) return false;
        return true;
    }
    word scratch_seed(const rank& k, int access, int run) const {
        return mix(mix(static_cast<word>(run) + 77) + static_cast<word>(&k - ranks_.data())) + static_cast<word>(access);
    }

    // What a step starts after is made.
    void check_awaited(rank& k, const dv::ir::step& step, int run) {
        for (int i = step.first_participation; i < step.first_participation + step.participations; ++i)
            for (int a : participations_[i].awaited) {
                const int symbol = p_.buffers[p_.accesses[a].buffer].symbol;
                const dv::ir::symbol& s = g_.symbols[symbol];
                if (s.kind == dv::ir::symbol_kind::state || size_of(p_.accesses[a]) != s.type.bytes()) continue;
                if (s.node >= 0 && (g_.nodes[s.node].op->view != dv::view_kind::none || dv::is_rooted(g_.nodes[s.node].kind))) continue;
                if (!same(touched_by(k, a, run), m_.value(run, symbol, home_of(s, participations_[i].graph_role), k.position)))
                    throw failure(name(step) + " starts too early on " + name(k) + " in run " + std::to_string(run));
            }
    }
    // The role whose value a role has.
    int home_of(const dv::ir::symbol& s, int role) const {
        if (s.role >= 0) return s.role;
        if (s.node < 0) return role;
        const dv::span<const int> targets = g_.operands.subspan(g_.nodes[s.node].first_target, g_.nodes[s.node].targets);
        for (const int t : targets)
            if (t == role) return role;
        return targets[0];
    }

    void begin(rank& k, const dv::ir::step& step, int run) {
        check_awaited(k, step, run);
        const auto arguments = own_arguments(k, step, run);
        for (int i = step.first_participation; i < step.first_participation + step.participations; ++i) {
            for (const auto* list : {&participations_[i].results, &participations_[i].scratch})
                for (int a : *list)
                    if (const piece to = touched_by(k, a, run); apart(to, arguments)) fill(to, scratch_seed(k, a, run));
            meeting& m = meeting_of(k, i, run);
            ++m.begun;
            const std::size_t group_indices = static_cast<std::size_t>(k.instance_of[i].second) + 1;
            if (m.arguments.size() < group_indices) m.arguments.resize(group_indices);
        }
    }

    void read(rank& k, int participation, int run) {
        meeting& m = meeting_of(k, participation, run);
        ++m.read;
        auto& kept = m.arguments[k.instance_of[participation].second];
        for (int a : participations_[participation].arguments) {
            const piece from = touched_by(k, a, run);
            kept.push_back({std::vector<word>(static_cast<std::size_t>(words_of(from.bytes))), from.bytes, from.type});
            if (from.bytes > 0) std::memcpy(kept.back().words.data(), from.data, static_cast<std::size_t>(from.bytes));
        }
    }

    // Nothing that the step uses may have changed under it; then it writes, and its values are looked at.
    void finish(rank& k, const dv::ir::step& step, int run) {
        const auto arguments = own_arguments(k, step, run);
        for (int i = step.first_participation; i < step.first_participation + step.participations; ++i) {
            auto& kept = meeting_of(k, i, run).arguments[k.instance_of[i].second];
            for (std::size_t a = 0; a < participations_[i].arguments.size(); ++a) {
                const piece now = touched_by(k, participations_[i].arguments[a], run);
                if (!same(now, kept[a].view()))
                    throw failure("an argument of " + name(step) + " changed while it ran, on " + name(k) + " in run " +
                                  std::to_string(run));
            }
            for (const auto* list : {&participations_[i].results, &participations_[i].scratch})
                for (int a : *list) {
                    const piece to = touched_by(k, a, run);
                    if (!apart(to, arguments)) continue;
                    expect_.resize(static_cast<std::size_t>(words_of(to.bytes)));
                    const piece left = snapshot(expect_, to.bytes);
                    fill(left, scratch_seed(k, a, run));
                    if (!same(to, left))
                        throw failure("memory of " + name(step) + " was written by another while it ran, on " + name(k) + " in run " +
                                      std::to_string(run));
                }
        }
        for (int i = step.first_participation; i < step.first_participation + step.participations; ++i) write(k, step, i, run);
        for (int i = step.first_participation; i < step.first_participation + step.participations; ++i) {
            const dv::ir::participation& participation = p_.participations[i];
            for (const auto& a : p_.accesses.subspan(participation.first_access, participation.touches()))
                for (int l = root_leaf(a), end = l + a.leaves; l < end; ++l)
                    if (const int root = root_of(a.buffer); --k.uses_left[run][l] == 0 && kept_[root] == 0)
                        poison({bytes_of(k, root, run).data + p_.leaves[l].begin, p_.leaves[l].bytes});
        }
        --k.steps_left[run];
    }

    void write(rank& k, const dv::ir::step& step, int i, int run) {
        participation_view& v = participations_[i];
        const dv::ir::member& member = p_.members[p_.participations[i].member];
        meeting& m = meeting_of(k, i, run);
        const int group_index = k.instance_of[i].second;
        std::vector<piece> in, out;
        for (int a : v.results) out.push_back(made_of(touched_by(k, a, run), k, member));
        if (member.kind == dv::op_kind::input) {
            const piece bound =
                m_.value(run, member.symbol,
                         g_.single_rank && g_.symbols[member.symbol].role >= 0 ? g_.symbols[member.symbol].role : k.role, k.position);
            if (bound.bytes > 0) std::memcpy(out[0].data, bound.data, static_cast<std::size_t>(bound.bytes));
            return;
        }
        if (member.kind == dv::op_kind::compute) {
            for (copied& a : m.arguments[group_index]) in.push_back(a.view());
            const word effect = apply(member.op, in, out);
            if (effect != m_.effect(run, m_.at(v.graph_role, k.position), v.node))
                throw failure(name(step) + " got wrong arguments on " + name(k) + " in run " + std::to_string(run));
        } else {
            std::vector<std::vector<piece>> given(m.arguments.size());
            for (std::size_t x = 0; x < given.size(); ++x)
                for (copied& a : m.arguments[x]) {
                    given[x].push_back(a.view());
                    if (member.kind == dv::op_kind::local_reduce) break;  // behind it, the rank's own block once more
                }
            if (!out.empty())
                receive_pieces({dv::is_communication(member.kind) ? member.kind : moving_within_a_rank(member.kind), member.reduce,
                                member.root, member.offset, member.zero_edge, member.op},
                               given, group_index, out);
        }
        if (v.node < 0 || (dv::is_communication(member.kind) && !receives(member.kind, member.root, group_index))) return;
        for (std::size_t j = 0; j < out.size(); ++j) {
            const piece then = made_of(m_.result(run, m_.at(v.graph_role, k.position), v.node, v.result_index[j]), k, member);
            if (!same(out[j], then))
                throw failure(name(step) + " gave a wrong result on " + name(k) + " in run " + std::to_string(run));
        }
    }

    // What a member makes of a result: all of it, or the block of the rank, at its place among those of its communicator.
    piece made_of(piece result, const rank& k, const dv::ir::member& member) const {
        if (member.kind != dv::op_kind::local_reduce || !member.op->own_block_in_place) return result;
        if (member.communicator < 0) throw failure("a reduction in place has no communicator");
        const auto positions = m_.neighbours(k.role, k.position, p_.communicators[member.communicator].axes);
        result.bytes /= static_cast<std::int64_t>(positions.size());
        result.data += (std::find(positions.begin(), positions.end(), k.position) - positions.begin()) * result.bytes;
        return result;
    }

    void compare_states() {
        for (rank& k : ranks_)
            for (int b = 0; b < p_.buffers.size(); ++b) {
                const dv::ir::buffer& x = p_.buffers[b];
                if (x.where != dv::ir::storage::state || x.role != k.role) continue;
                const piece now = bytes_of(k, b, 0), then = m_.state(x.symbol, g_.symbols[x.symbol].role, k.position);
                if (!same(now, then))
                    throw failure("state symbol " + std::to_string(x.symbol) + " is wrong on " + name(k) + " at the end");
            }
    }

    std::string stuck() const {
        std::string text;
        for (const rank& k : ranks_)
            for (int q = 0; q < dv::stream_count; ++q) {
                if (k.queues[q].empty()) continue;
                const entry& e = k.queues[q].front();
                text += "\n  " + name(k) + " queue " + std::to_string(q) + ", run " + std::to_string(e.run) + ": ";
                if (e.kind == what::step) text += name(step_of(k, e)) + (e.phase == 0 ? " not begun" : " begun");
                else text += e.kind == what::wait ? "waits for an event of step " + std::to_string(e.step) : "records";
            }
        return text;
    }

    chooser r_;
};

}  // namespace
}  // namespace detail

void simulate(const dv::ir::graph& g, const dv::ir::program& p, const dv::plan::plan& plan, meaning& m, const simulation& how) {
    detail::simulator{g, p, plan, m, how}.run();
}

}  // namespace support
