// One role's steps, replayed in issue order over as many runs as it takes for every slot and all slots of every event to come
// round. Vector clocks over the streams say what has happened before; the shadow says who touched the bytes last. Each read
// must meet the value that the sequential program would meet, and each pair of conflicting accesses must be ordered by
// the clocks in the direction of the replay; then no execution can differ from it.
//
// Later runs need no proof of their own: an ordering between runs k and k+s uses only waits issued in runs k ... k+s, and
// runs differ in nothing but the waits of the first ones, which are fewer. For the same reason run 0 has shown all that
// concerns a single run, and of the others only that is replayed which has to do with earlier ones: waits and events, states,
// and the definitions that are the first of their run to take some memory. Whatever follows them there, run 0 has shown.
#pragma once

#include "replay_state.hpp"

namespace dovetail::plan::detail {

class replay : replay_state {
public:
    constexpr replay(const ir::graph& g, const ir::program& p, const plan& made, int role, span<const int> own, state_versions& states)
        : replay_state{g, p, made, role, own, states}, stamps_(mine_.events * made.event_slots * stamp_width, unset{}) {
        for (int *x = stamps_.begin(), *end = stamps_.end(); x != end; x += stamp_width) *x = 0;
    }

    constexpr verdict result() {
        for (; run_ < runs_; ++run_)
            if (!play()) {
                const verdict found = bad_;
                return name_events() ? found : bad_;
            }
        return {};
    }

private:
    // An event's slot: which step of which run recorded it (run * steps + step + 1; 0: none so far), and how many
    // steps of each stream were complete then.
    static constexpr int stamp_width = 1 + stream_count;

    constexpr int* stamps_of(int run) { return stamps_.begin() + run % made_.event_slots * mine_.events * stamp_width; }

    // One run; of the last one nothing matters behind the last step that has to do with earlier runs.
    constexpr bool play() {
        if (!play(run_ + 1 < runs_ ? mine_.steps : needed_)) return false;
        for (int b : outputs_)
            if (run_ == 0 && touches_.value[row(b)] != b + 1) {
                const int r = row(b);
                bad_ = {run_of(r) == run_ ? flaw::overlap_of_live_bytes : flaw::stale_read, role_, writer(r), -1, b, run_};
                return false;
            }
        return true;
    }

    // The loop that counts: every statement here is evaluated for each step of run 0, and for most of those of later runs.
    constexpr bool play(int end_step) {
        const ir::participation* participations = p_.participations.first;
        const ir::access* accesses = p_.accesses.first;
        const ir::member* members = p_.members.first;
        const ir::wait* waits = made_.waits.first;
        const ir::step* steps = steps_;
        int* issued = issued_;
        const int *row_of = row_of_.begin(), *low = cells_.low.begin(), *high = cells_.high.begin(), *tile_end = tiles_.end.begin();
        int *rows = touches_.rows.begin(), *value = touches_.value.begin(), *owner = tiles_.owner.begin(), *stamps = stamps_of(run_);
        const int values = run_ * p_.buffers.count + 1, stamp = run_ * mine_.steps + 1;
        const unsigned events = static_cast<unsigned>(mine_.events), event_slots = static_cast<unsigned>(made_.event_slots);
        const bool first = run_ == 0;
        // Of the step, wait, part or access at hand; declared once, see check_conformance.
        const ir::step* s = steps;
        const ir::wait *w = nullptr, *waits_end = nullptr;
        const ir::participation *y = nullptr, *participations_end = nullptr;
        const ir::access *begin = nullptr, *a = nullptr, *last = nullptr;
        const ir::member* m = nullptr;
        const int *stamped = nullptr, *z = nullptr;
        int *now = nullptr, *x = nullptr;
        int stream = 0, own = 0, distance = 0, b = 0, r = 0, f = 0, cell = 0, given = 0;
        bool over = false;
        bool matters = false;  // to later runs: it takes memory that none of this run had before
        for (int k = 0; k < end_step; ++k, ++s) {
            stream = s->stream;
            own = issued[stream]++;
            now = clocks_[stream];
            now[stream] = own;  // first in, first out: everything before it on the stream is complete
            matters = false;
            if (s->waits > 0)
                for (w = waits + s->first_wait, waits_end = w + s->waits; w != waits_end; ++w) {
                    distance = w->distance;
                    if (static_cast<unsigned>(w->event) >= events || static_cast<unsigned>(distance) > event_slots) return fail(flaw::wait_wrong_record, *s);
                    if (distance > 0 && first) needed_ = k + 1;  // Only for speed: later runs may end there.
                    if (distance > run_) continue;
                    // It binds to the latest record issued into its slot.
                    stamped = (distance == 0 ? stamps : stamps_of(run_ - distance)) + w->event * stamp_width;
                    if (stamped[0] - (distance == 0 ? stamp : stamp - distance * mine_.steps) != w->step) return fail(flaw::wait_wrong_record, *s);
                    if (stamped[1] > now[0]) now[0] = stamped[1];
                    if (stamped[2] > now[1]) now[1] = stamped[2];
                    if (stamped[3] > now[2]) now[2] = stamped[3];
                }
            if (first || matters_now(k))
                for (y = participations + s->first_participation, participations_end = y + s->participations; y != participations_end; ++y)
                    for (a = begin = accesses + y->first_access, last = a + y->accesses; a != last; ++a) {
                        b = a->buffer;
                        r = row_of[b];
                        if (r < 0) {
                            if (r == constant) continue;
                            r = row(b);
                            matters = true;
                            if (p_.buffers.first[b].where == ir::storage::state) {
                                if (!touch_state(*s, *y, r, *a, now, own)) return false;
                                continue;
                            }
                        }
                        x = rows + touches::width * r;
                        if (a->mode == access_mode::read) {
                            if (!first) continue;
                            if (value[r] != values + b || x[touches::write] >= now[x[touches::write_stream]]) return refuse_read(*s, r, b);
                            x[stream] = own;
                            continue;
                        }
                        cell = low[b];
                        over = value[r] == 0;  // nothing that touched it is left to be asked after
                        if (cell >= 0 && tile_end[cell] == high[b]) {
                            given = owner[cell];  // whose they were
                            owner[cell] = b;
                            if (given < 0) {
                                matters = true;
                            } else if (given != b) {
                                f = row_of[given];
                                if (f < 0) return refuse_take(*s, b, given, now);  // it has several slots
                                z = rows + touches::width * f;
                                if (z[0] >= now[0] || z[1] >= now[1] || z[2] >= now[2]) return refuse_take(*s, b, given, now);
                                if (value[f] > 0) value[f] = -value[f];
                                over = true;  // b's own last accesses came before those of whoever took all its bytes
                            }
                        } else if (p_.buffers.first[b].alias >= 0) {
                            if (!first) continue;
                            // Mostly the only argument's bytes, which the step has just read.
                            m = members + y->member;
                            given = begin->buffer;
                            if (a == begin + 1 && s->participations == 1 && value[r] == values + given && m->op->in_place == 0)
                                x[stream] = -1;
                            else if (!alias_argument(*s, *y, r, b))
                                return false;
                        } else {
                            matters = true;
                            if (!define(*s, b, now, over)) return false;
                        }
                        if (!over)  // Else who took its bytes has waited for these, or nothing is there yet.
                            if (x[0] >= now[0] || x[1] >= now[1] || x[2] >= now[2]) return fail(kind_of_conflict(x, now, flaw::race), *s, b, writer(r));
                        // What touched it before stays: whoever knows of this step knows of all that it has waited for.
                        if (value[r] == 0) x[0] = x[1] = x[2] = -1;  // Only while compiling: nothing was written there.
                        value[r] = values + b;
                        x[stream] = x[touches::write] = own;
                        x[touches::write_stream] = stream;
                    }
            if (s->event >= 0) {
                x = stamps + s->event * stamp_width;
                if (first && x[0] != 0) return fail(flaw::event_recorded_twice, *s);
                x[0] = stamp + k;
                x[1] = now[0];
                x[2] = now[1];
                x[3] = now[2];
                x[1 + stream] = own + 1;
            }
            if (matters && first) {  // Only for speed: of the others nothing is new in later runs.
                matters_.push(k);
                needed_ = k + 1;
            }
        }
        return true;
    }

    // Of a later run, whose steps come in the same order.
    constexpr bool matters_now(int k) {
        if (k == 0) next_ = 0;
        if (next_ == matters_.size() || matters_[next_] != k) return false;
        ++next_;
        return true;
    }

    // What is wrong with events and waits as they stand in the tables goes before what came of it; with rows to point at.
    // Only for names.
    constexpr bool name_events() {
        const int run = run_;
        run_ = 0;
        vec<int> recorded_by(mine_.events, -1);
        int* recorded = recorded_by.begin();
        for (int i = 0; i < mine_.steps; ++i) {
            const int e = steps_[i].event;
            if (e < 0) continue;
            if (recorded[e] >= 0) return fail(flaw::event_recorded_twice, steps_[i], -1, steps_[recorded[e]].task);
            recorded[e] = i;
        }
        for (int i = 0; i < mine_.steps; ++i) {
            const ir::step& s = steps_[i];
            for (const ir::wait *w = made_.waits.begin() + s.first_wait, *end = w + s.waits; w != end; ++w) {
                if (w->event < 0 || w->event >= mine_.events || recorded[w->event] < 0) return fail(flaw::wait_unknown_event, s);
                if (recorded[w->event] != w->step) return fail(flaw::wait_wrong_record, s, -1, steps_[recorded[w->event]].task);
            }
        }
        run_ = run;
        return true;
    }

    constexpr bool touch_state(const ir::step& s, const ir::participation& y, int r, const ir::access& a, const int* now, int own) {
        int *x = touches_.rows.begin() + touches::width * r, &version = touches_.value[r];
        const int due = states_.expected[static_cast<int>(&a - p_.accesses.first)] + run_ * states_.updates[a.buffer];
        if (a.mode == access_mode::read) {
            // a second source position of what this launch has read, or gets as `inout`
            for (const ir::access* k = p_.accesses.first + y.first_access; k != &a; ++k)
                if (k->buffer == a.buffer) return true;
            if (version != due) return fail(flaw::wrong_value, s, a.buffer, writer(r));
            if (x[touches::write] >= now[x[touches::write_stream]]) return fail(kind_of_conflict(x, now, flaw::race, false), s, a.buffer, writer(r));
            x[s.stream] = own;
            return true;
        }
        if (x[0] >= now[0] || x[1] >= now[1] || x[2] >= now[2]) return fail(kind_of_conflict(x, now, flaw::race), s, a.buffer, writer(r));
        if (version != due) return fail(flaw::wrong_value, s, a.buffer, writer(r));
        version = due + 1;
        x[0] = x[1] = x[2] = -1;
        x[s.stream] = x[touches::write] = own;
        x[touches::write_stream] = s.stream;
        return true;
    }

    // May this step write b, which has several slots, no bytes, or other tiles than before? `over`: nothing that touched the
    // row before is left to be asked after.
    constexpr bool define(const ir::step& s, int b, const int* now, bool& over) {
        const ir::buffer& x = p_.buffers.first[b];
        const int low = cells_.low[b] < 0 ? -2 - cells_.low[b] : cells_.low[b], high = cells_.high[b];
        if (low < high && (x.slots == 1 || run_ == 0)) {
            int other = -1;
            const auto leave = [&](int o) {
                const int f = row_of_[other = o];
                if (f < 0) return false;        // slots are nobody else's
                if (x.slots > 1) return false;  // Only for names: the former owner would be refused when it takes them back.
                if (touches_.value[f] > 0) touches_.value[f] = -touches_.value[f];
                const int* z = touches_.rows.begin() + touches::width * f;
                return z[0] < now[0] && z[1] < now[1] && z[2] < now[2];
            };
            if (!tiles_.take(b, low, high, leave)) return refuse_take(s, b, other, now);
        }
        over = over || x.bytes == 0;  // Only while compiling: without `over` nothing was written to the row.
        return true;
    }

    // Is this the only access of the step that touches b? It may then be read and written at once.
    constexpr bool alone(const ir::step& s, int b) const {
        int touched = 0;
        for (const ir::participation& y : p_.participations.subspan(s.first_participation, s.participations))
            for (const ir::access& a : p_.accesses.subspan(y.first_access, y.accesses)) touched += a.buffer == b ? 1 : 0;
        return touched == 1;
    }

    // An in-place result: the operation's argument, which it names or of which a role gives one to a collective over roles,
    // holds the bytes, and nobody else looks at it. The reading of the argument is forgiven; its definition was over, or the step could
    // not have read it; everything else must be over as for any write.
    constexpr bool alias_argument(const ir::step& s, const ir::participation& y, int r, int b) {
        const int n = p_.members.first[y.member].node;
        int argument = n < 0 ? -1 : g_.nodes.first[n].op->in_place;
        if (n >= 0 && (argument >= 0 ? g_.nodes.first[n].role < 0 : g_.nodes.first[n].op->in_place_only)) argument = 0;
        if (argument < 0) return fail(flaw::alias_wrong, s, b, writer(r));
        const int given = p_.accesses.first[y.first_access + argument].buffer;
        if (touches_.value[r] != run_ * p_.buffers.count + given + 1 ||
            ((s.participations > 1 || y.accesses > 2) && !alone(s, given)))  // Only for speed: one of two accesses is the result's.
            return fail(flaw::alias_wrong, s, b, writer(r));
        int* x = touches_.rows.begin() + touches::width * r;
        x[s.stream] = -1;
        return true;
    }

    vec<int> stamps_;
    vec<int> matters_;                             // the steps whose accesses matter in later runs
    int next_ = 0;                                 // ... and the next of them
    int needed_ = 0;                               // the steps up to the last one that has to do with earlier runs
    int clocks_[stream_count][stream_count] = {};  // how many of each stream's steps, over all runs, a stream knows to be complete
    int issued_[stream_count] = {};                // ... and how many were issued so far
};

}  // namespace dovetail::plan::detail
