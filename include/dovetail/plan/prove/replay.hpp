// One role's steps, replayed in issue order over as many runs as it takes for every slot and every event ring to come
// round. Vector clocks over the lanes say what has happened before; the shadow says who touched the bytes last. Each read
// must meet the value that the sequential program would meet, and each pair of conflicting accesses must be ordered by
// the clocks in the direction of the replay; then no execution can differ from it.
//
// Later runs need no proof of their own: an ordering between runs k and k+s uses only waits issued in runs k ... k+s, and
// runs differ in nothing but the waits of the first ones, which are fewer.
#pragma once

#include "shadow.hpp"
#include "states.hpp"

namespace dovetail::plan::detail {

class replay {
public:
    constexpr replay(const ir::graph& g, const ir::program& p, const plan& made, int role)
        : g_{g}, p_{p}, made_{made}, mine_{made.roles.first[role]}, role_{role}, states_{versions_of(g, p, role)}, cells_{cells_of(p, made, role)},
          tiles_{cells_.count}, record_of_(p.buffers.count, -1), stamps_(mine_.events * made.rings), recorded_(mine_.events, -1) {
        int records = 0, most = made.rings;
        for (int b = 0; b < p.buffers.count; ++b) {
            const ir::buffer& x = p.buffers.first[b];
            if (x.role != role || x.where == ir::storage::constant) continue;
            if (x.output && x.where != ir::storage::state) outputs_.push(b);
            if (x.alias >= 0) continue;
            record_of_[b] = records;
            records += x.slots;
            if (x.slots > most) most = x.slots;
        }
        runs_ = most + 1;
        records_ = vec<record>(records);
        for (int b = 0; b < p.buffers.count; ++b) {
            const ir::buffer& x = p.buffers.first[b];
            if (x.role != role) continue;
            if (x.alias >= 0) record_of_[b] = record_of_[x.alias];
            if (x.where == ir::storage::state) records_[record_of_[b]].run = 0;
        }
    }

    constexpr verdict result() {
        if (!check_events()) return bad_;
        const ir::step *first = made_.steps.begin() + mine_.first_step, *end = first + mine_.steps;
        for (run_ = 0; run_ < runs_; ++run_) {
            for (const ir::step* s = first; s != end; ++s)
                if (!play(*s)) return bad_;
            for (int b : outputs_)
                if (const record& r = slot(b); r.holder != b || r.run != run_ || !r.intact)
                    return {r.run == run_ ? flaw::overlap_of_live_bytes : flaw::stale_read, role_, r.vertex, -1, b, run_};
        }
        return {};
    }

private:
    struct stamp {
        clock done;
        int run = -1;
    };

    constexpr record& slot(int b) {
        const int slots = p_.buffers.first[b].slots;
        return records_.begin()[record_of_[b] + (slots > 1 ? run_ % slots : 0)];
    }
    constexpr bool fail(flaw what, const ir::step& s, int buffer = -1, int other = -1) {
        bad_ = {what, role_, s.vertex, other, buffer, run_};
        return false;
    }

    constexpr bool check_events() {
        const ir::step* steps = made_.steps.begin() + mine_.first_step;
        int* recorded = recorded_.begin();
        for (int i = 0; i < mine_.steps; ++i) {
            const int e = steps[i].event;
            if (e < 0) continue;
            if (recorded[e] >= 0) return fail(flaw::event_recorded_twice, steps[i], -1, steps[recorded[e]].vertex);
            recorded[e] = i;
        }
        for (int i = 0; i < mine_.steps; ++i) {
            const ir::step& s = steps[i];
            for (const ir::wait *w = made_.waits.begin() + s.first_wait, *end = w + s.waits; w != end; ++w) {
                if (w->event < 0 || w->event >= mine_.events || recorded[w->event] < 0) return fail(flaw::wait_unknown_event, s);
                if (recorded[w->event] != w->step || w->lag < 0 || w->lag > made_.rings) return fail(flaw::wait_wrong_record, s, -1, steps[recorded[w->event]].vertex);
            }
        }
        return true;
    }

    constexpr bool play(const ir::step& s) {
        clock& now = clocks_[s.lane];
        const int own = issued_[s.lane]++;   // first in, first out: everything before it on the lane is complete
        now.at[s.lane] = own;
        for (const ir::wait *w = made_.waits.begin() + s.first_wait, *end = w + s.waits; w != end; ++w) {
            if (w->lag > run_) continue;
            // A wait binds to the latest record issued into its place of the ring.
            const stamp& x = stamps_.begin()[w->event * made_.rings + (run_ - w->lag) % made_.rings];
            if (x.run != run_ - w->lag) return fail(flaw::wait_wrong_record, s);
            if (x.done.at[0] > now.at[0]) now.at[0] = x.done.at[0];
            if (x.done.at[1] > now.at[1]) now.at[1] = x.done.at[1];
            if (x.done.at[2] > now.at[2]) now.at[2] = x.done.at[2];
        }
        const ir::access* accesses = p_.accesses.begin();
        for (const ir::part *y = p_.parts.begin() + s.first_part, *end = y + s.parts; y != end; ++y)
            for (int i = y->first_access, last = i + y->accesses; i < last; ++i) {
                const int b = accesses[i].buffer;
                const ir::buffer& x = p_.buffers.first[b];
                if (x.where == ir::storage::constant) continue;
                if (x.role != role_) return fail(flaw::wrong_access, s, b);
                record& r = records_.begin()[record_of_.begin()[b] + (x.slots > 1 ? run_ % x.slots : 0)];
                if (x.where == ir::storage::state) {
                    if (!touch_state(s, *y, r, i, now, own)) return false;
                } else if (accesses[i].mode != access_mode::read) {
                    if (!define(s, *y, r, b, now, own)) return false;
                } else {
                    if (r.holder != b || r.run != run_ || !r.intact || r.write >= now.at[r.write_lane]) return refuse_read(s, r, b);
                    r.read[s.lane] = own;
                }
            }
        if (s.event >= 0) {
            stamp& x = stamps_.begin()[s.event * made_.rings + run_ % made_.rings];
            x.done = now;
            x.done.at[s.lane] = own + 1;
            x.run = run_;
        }
        return true;
    }

    constexpr bool refuse_read(const ir::step& s, const record& r, int b) {
        if (r.run == run_ && r.holder >= 0 && r.holder != b) return fail(flaw::alias_wrong, s, b, r.vertex);
        if (r.run != run_ || r.holder != b) return fail(flaw::stale_read, s, b, r.vertex);
        if (!r.intact) return fail(flaw::overlap_of_live_bytes, s, b, r.vertex);
        return fail(flaw::race, s, b, r.vertex);
    }

    // The name of a conflict: `within` where an access of this run is not ordered before now, else it is one across runs.
    constexpr flaw kind_of_conflict(const record& r, const clock& now, flaw within) const {
        int first_of_run[lane_count] = {};
        const ir::step* steps = made_.steps.begin() + mine_.first_step;
        for (int i = 0; i < mine_.steps; ++i) first_of_run[steps[i].lane] += run_;
        bool here = r.write >= now.at[r.write_lane] && r.write >= first_of_run[r.write_lane];
        for (int l = 0; l < lane_count; ++l) here = here || (r.read[l] >= now.at[l] && r.read[l] >= first_of_run[l]);
        return here ? within : flaw::race_across_runs;
    }

    // Does only one access of the step touch what lies in this record? It may then read and write it at once.
    constexpr bool alone(const ir::step& s, const record& r) {
        int touched = 0;
        for (const ir::part& y : p_.parts.part(s.first_part, s.parts))
            for (const ir::access& a : p_.accesses.part(y.first_access, y.accesses)) touched += a.buffer == r.holder ? 1 : 0;
        return touched == 1;
    }

    constexpr bool touch_state(const ir::step& s, const ir::part& y, record& r, int i, const clock& now, int own) {
        const ir::access& a = p_.accesses.first[i];
        if (a.mode == access_mode::read) {
            // a second mention of what this launch gets as `inout`
            for (int k = y.first_access; k < i; ++k)
                if (p_.accesses.first[k].buffer == a.buffer && p_.accesses.first[k].mode == access_mode::update) return true;
            if (r.run != states_.expected.begin()[i] + run_ * states_.updates.begin()[a.buffer]) return fail(flaw::wrong_value, s, a.buffer, r.vertex);
            if (r.write >= now.at[r.write_lane]) return fail(kind_of_conflict(r, now, flaw::race), s, a.buffer, r.vertex);
            r.read[s.lane] = own;
            return true;
        }
        if (!r.before(now)) return fail(kind_of_conflict(r, now, flaw::race), s, a.buffer, r.vertex);
        if (r.run != states_.expected.begin()[i] + run_ * states_.updates.begin()[a.buffer]) return fail(flaw::wrong_value, s, a.buffer, r.vertex);
        ++r.run;
        settle(s, r, a.buffer, own);
        return true;
    }

    // The buffer that the part's first result may take over, -1 for none. A role gives one argument to a collective over roles.
    constexpr int in_place_argument(const ir::part& y) const {
        const ir::member& m = p_.members.first[y.member];
        if (m.op == nullptr || (m.op->in_place < 0 && !m.op->in_place_only)) return -1;
        const int i = m.op->in_place < 0 || (m.node >= 0 && g_.nodes.first[m.node].role < 0) ? 0 : m.op->in_place;
        return i < y.accesses ? p_.accesses.first[y.first_access + i].buffer : -1;
    }

    constexpr void settle(const ir::step& s, record& r, int b, int own) {
        r.holder = b;
        r.write = own;
        r.write_lane = s.lane;
        r.read[0] = r.read[1] = r.read[2] = -1;
        r.vertex = s.vertex;
        r.intact = true;
    }

    constexpr bool define(const ir::step& s, const ir::part& y, record& r, int b, const clock& now, int own) {
        const ir::buffer& x = p_.buffers.first[b];
        if (x.alias >= 0) {
            // The operation's in-place argument holds the bytes, and nobody else looks at it.
            const int given = in_place_argument(y);
            if (given < 0 || given == b || r.holder != given || r.run != run_ || !r.intact || !alone(s, r)) return fail(flaw::alias_wrong, s, b, r.vertex);
            if (!r.before(now, s.lane, 1)) return fail(kind_of_conflict(r, now, flaw::race), s, b, r.vertex);
        } else {
            if (!r.before(now)) return fail(kind_of_conflict(r, now, flaw::race), s, b, r.vertex);
            const int low = cells_.low.begin()[b], high = cells_.high.begin()[b];
            if (low < high && (x.slots == 1 || run_ == 0)) {
                int other = -1;
                if (!tiles_.take(b, low, high, [&](int o) {
                        record& former = records_.begin()[record_of_.begin()[o]];
                        other = o;
                        former.intact = false;
                        return x.slots == 1 && p_.buffers.first[o].slots == 1 && former.before(now);
                    }))
                    return refuse_take(s, b, other, now);
            }
        }
        settle(s, r, b, own);
        r.run = run_;
        return true;
    }

    constexpr bool refuse_take(const ir::step& s, int b, int former, const clock& now) {
        const record& r = records_[record_of_[former]];
        if (p_.buffers.first[b].slots > 1 || p_.buffers.first[former].slots > 1) return fail(flaw::slot_not_dedicated, s, b, r.vertex);
        if (r.run == run_ && still_needed(s, former)) return fail(flaw::overlap_of_live_bytes, s, b, r.vertex);
        return fail(kind_of_conflict(r, now, flaw::slot_shared_too_early), s, b, r.vertex);
    }

    // Is the value in `former`'s bytes read by this step or a later one of the run, or by the caller?
    constexpr bool still_needed(const ir::step& s, int former) const {
        const ir::step *first = made_.steps.begin() + mine_.first_step, *end = first + mine_.steps;
        bool from_here = false;
        for (const ir::step* t = first; t != end; ++t) {
            from_here = from_here || t->vertex == s.vertex;
            if (!from_here) continue;
            for (const ir::part& y : p_.parts.part(t->first_part, t->parts))
                for (const ir::access& a : p_.accesses.part(y.first_access, y.accesses))
                    if (a.buffer == former || p_.buffers.first[a.buffer].alias == former) return true;
        }
        for (int b : outputs_)
            if (b == former || p_.buffers.first[b].alias == former) return true;
        return false;
    }

    const ir::graph& g_;
    const ir::program& p_;
    const plan& made_;
    const ir::role_plan& mine_;
    int role_, run_ = 0, runs_ = 0;
    state_versions states_;
    cells cells_;
    tiles tiles_;
    vec<int> record_of_, outputs_;
    vec<record> records_;
    vec<stamp> stamps_;
    vec<int> recorded_;
    clock clocks_[lane_count];
    int issued_[lane_count] = {};
    verdict bad_;
};

}  // namespace dovetail::plan::detail
