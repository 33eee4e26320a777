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
        for (int *x = stamps_.first, *end = x + stamps_.size(); x != end; x += stamp_width) *x = 0;
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

    constexpr int* stamps_of(int run) { return stamps_.first + run % made_.event_slots * mine_.events * stamp_width; }

    // One run; of the last one nothing matters behind the last step that has to do with earlier runs.
    constexpr bool play() {
        if (!play(run_ + 1 < runs_ ? mine_.steps : needed_)) return false;
        for (int b : outputs_)
            for (int leaf = p_.buffers.first[b].first_leaf, end = leaf + p_.buffers.first[b].leaves; leaf < end; ++leaf)
                if (run_ == 0 && touches_.value[row(leaf, b)] != leaf + 1) {
                    const int r = row(leaf, b);
                    bad_ = {run_of(r) == run_ ? flaw::overlap_of_live_bytes : flaw::stale_read, role_, writer(r), -1, b, run_};
                    return false;
                }
        return true;
    }

    // The loops that count: what is here is evaluated for each step of run 0, and for most of those of later runs.
    constexpr bool play(int end_step) {
        const bool first = run_ == 0;
        values_ = run_ * p_.leaves.count + 1;
        const ir::step* s = steps_;
        for (int k = 0; k < end_step; ++k, ++s) {
            stream_ = s->stream;
            own_ = issued_[stream_]++;
            now_ = clocks_[stream_];
            now_[stream_] = own_;  // first in, first out: everything before it on the stream is complete
            claims_ = false;
            if (s->waits > 0 && !wait(*s, k)) return false;             // Only for speed: a step without waits has none to look at.
            if ((first || matters_now(k)) && !touch(*s)) return false;  // Only for speed: of the others run 0 has shown all.
            if (s->event >= 0 && !record(*s, k)) return false;
            if (claims_ && first) {  // Only for speed: of the others nothing is new in later runs.
                matters_.push(k);
                needed_ = k + 1;
            }
        }
        return true;
    }

    // A wait binds to the latest record issued into its slot.
    constexpr bool wait(const ir::step& s, int k) {
        const unsigned events = static_cast<unsigned>(mine_.events), event_slots = static_cast<unsigned>(made_.event_slots);
        const int *stamps = stamps_of(run_), *stamped = nullptr;
        for (const ir::wait *w = made_.waits.first + s.first_wait, *end = w + s.waits; w != end; ++w) {
            if (static_cast<unsigned>(w->event) >= events || static_cast<unsigned>(w->distance) > event_slots)
                return fail(flaw::wait_wrong_record, s);
            if (w->distance > 0 && run_ == 0) needed_ = k + 1;  // Only for speed: later runs may end there.
            if (w->distance > run_) continue;
            stamped = (w->distance == 0 ? stamps : stamps_of(run_ - w->distance)) + w->event * stamp_width;
            if (stamped[0] - ((run_ - w->distance) * mine_.steps + 1) != w->step) return fail(flaw::wait_wrong_record, s);
            if (stamped[1] > now_[0]) now_[0] = stamped[1];
            if (stamped[2] > now_[1]) now_[1] = stamped[2];
            if (stamped[3] > now_[2]) now_[2] = stamped[3];
        }
        return true;
    }
    constexpr bool record(const ir::step& s, int k) {
        int* const x = stamps_of(run_) + s.event * stamp_width;
        if (run_ == 0 && x[0] != 0) return fail(flaw::event_recorded_twice, s);
        x[0] = run_ * mine_.steps + 1 + k;
        x[1] = now_[0];
        x[2] = now_[1];
        x[3] = now_[2];
        x[1 + stream_] = own_ + 1;
        return true;
    }

    // Everything that a step touches.
    constexpr bool touch(const ir::step& s) {
        const ir::participation *y = p_.participations.first + s.first_participation, *participations_end = y + s.participations;
        const ir::access *accesses = p_.accesses.first, *a = nullptr, *last = nullptr;
        const int* row_of = row_of_.first;
        int leaf = 0, end = 0, r = 0;  // declared once, see plan/compile/README.md
        for (; y != participations_end; ++y)
            for (a = accesses + y->first_access, last = a + y->accesses + y->awaited; a != last; ++a)
                for (leaf = a->leaf, end = leaf + a->leaves; leaf < end; ++leaf) {
                    r = row_of[leaf];
                    if (r < 0) {
                        if (r == constant) continue;
                        r = row(leaf, a->buffer);
                        claims_ = true;
                        if (p_.buffers.first[a->buffer].where == ir::storage::state) {
                            if (!touch_state(s, *y, r, *a, leaf - a->leaf)) return false;
                            continue;
                        }
                    }
                    if (a->mode == access_mode::read ? run_ == 0 && !read(s, r, *a, leaf) : !write(s, *y, r, *a, leaf)) return false;
                }
        return true;
    }

    constexpr bool read(const ir::step& s, int r, const ir::access& a, int leaf) {
        int* const x = touches_.rows.first + touches::width * r;
        if (touches_.value.first[r] != values_ + leaf || x[touches::write] >= now_[x[touches::write_stream]])
            return refuse_read(s, r, leaf, a.buffer);
        x[stream_] = own_;
        return true;
    }

    constexpr bool write(const ir::step& s, const ir::participation& y, int r, const ir::access& a, int leaf) {
        int *const x = touches_.rows.first + touches::width * r, *const value = touches_.value.first + r;
        const int cell = cells_.low.first[leaf];
        bool over = *value == 0;  // nothing that touched it is left to be asked after
        if (cell >= 0 && tiles_.end.first[cell] == cells_.high.first[leaf]) {
            if (!take_tile(s, a, leaf, cell, over)) return false;
        } else if (p_.buffers.first[a.buffer].alias >= 0) {
            if (run_ > 0) return true;
            if (!alias_argument(s, y, r, a, leaf)) return false;
        } else {
            claims_ = true;
            if (!define(s, a.buffer, leaf, over)) return false;
        }
        if (!over)  // otherwise `take_tile` has checked the former owner of the bytes, or they had none
            if (x[0] >= now_[0] || x[1] >= now_[1] || x[2] >= now_[2])
                return fail(kind_of_conflict(x, now_, flaw::race), s, a.buffer, writer(r));
        // Earlier entries stay: a step that knows of this one also knows of all that this one has waited for.
        if (*value == 0) x[0] = x[1] = x[2] = -1;  // Only while compiling: nothing was written there.
        *value = values_ + leaf;
        x[stream_] = x[touches::write] = own_;
        x[touches::write_stream] = stream_;
        return true;
    }

    // For a leaf whose bytes are one tile, which is the usual case: all accesses of the former owner of the tile are known to be finished.
    constexpr bool take_tile(const ir::step& s, const ir::access& a, int leaf, int cell, bool& over) {
        const int former = tiles_.owner.first[cell];
        tiles_.owner.first[cell] = leaf;
        if (former < 0) {
            claims_ = true;
            return true;
        }
        if (former == leaf) return true;  // Only for names: `write` checks the leaf's own earlier accesses.
        const int f = row_of_.first[former];
        if (f < 0) return refuse_take(s, a.buffer, former, now_);  // it has several slots
        const int* const z = touches_.rows.first + touches::width * f;
        if (z[0] >= now_[0] || z[1] >= now_[1] || z[2] >= now_[2]) return refuse_take(s, a.buffer, former, now_);
        if (touches_.value.first[f] > 0) touches_.value.first[f] = -touches_.value.first[f];
        over = true;  // the leaf's own earlier accesses came before those of the former owner
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

    // The i-th leaf of an access.
    constexpr bool touch_state(const ir::step& s, const ir::participation& y, int r, const ir::access& a, int i) {
        int *x = touches_.rows.first + touches::width * r, &version = touches_.value[r];
        const int due = states_.of(static_cast<int>(&a - p_.accesses.first), i) + run_ * states_.updates[a.leaf + i];
        if (a.mode == access_mode::read) {
            // a second occurrence of what this launch has read, or gets as `inout`
            for (const ir::access* k = p_.accesses.first + y.first_access; k != &a; ++k)
                if (covers(*k, a.leaf + i)) return true;
            if (version != due) return fail(flaw::wrong_value, s, a.buffer, writer(r));
            if (x[touches::write] >= now_[x[touches::write_stream]])
                return fail(kind_of_conflict(x, now_, flaw::race, false), s, a.buffer, writer(r));
            x[stream_] = own_;
            return true;
        }
        if (x[0] >= now_[0] || x[1] >= now_[1] || x[2] >= now_[2])
            return fail(kind_of_conflict(x, now_, flaw::race), s, a.buffer, writer(r));
        if (version != due) return fail(flaw::wrong_value, s, a.buffer, writer(r));
        version = due + 1;
        x[0] = x[1] = x[2] = -1;
        x[stream_] = x[touches::write] = own_;
        x[touches::write_stream] = stream_;
        return true;
    }

    // May this step write a leaf of b, which has several slots, no bytes, or other tiles than before? `over`: nothing that touched the
    // row before is left to be asked after. Copies for several runs are the tile of the buffer's first leaf.
    constexpr bool define(const ir::step& s, int b, int leaf, bool& over) {
        const ir::buffer& x = p_.buffers.first[b];
        const int low = cells_.low[leaf] < 0 ? -2 - cells_.low[leaf] : cells_.low[leaf], high = cells_.high[leaf];
        if (low < high && (x.slots == 1 || run_ == 0)) {  // Only for speed: copies stay where run 0 has put them.
            const int taker = x.slots == 1 ? leaf : x.first_leaf;
            int other = -1;
            const auto leave = [&, this](int o) {
                if (o == taker) return true;
                const int f = row_of_[other = o];
                if (f < 0) return false;        // a slot has a single owner
                if (x.slots > 1) return false;  // Only for names: the former owner would be refused when it takes them back.
                if (touches_.value[f] > 0) touches_.value[f] = -touches_.value[f];
                const int* z = touches_.rows.first + touches::width * f;
                return z[0] < now_[0] && z[1] < now_[1] && z[2] < now_[2];
            };
            if (!tiles_.take(taker, low, high, leave)) return refuse_take(s, b, other, now_);
        }
        over = over || x.bytes == 0;  // Only while compiling: without `over` nothing was written to the row.
        return true;
    }

    static constexpr bool covers(const ir::access& a, int leaf) { return leaf >= a.leaf && leaf - a.leaf < a.leaves; }

    // Is this the only access of the step that touches the leaf? It may then be read and written at once.
    constexpr bool alone(const ir::step& s, int leaf) const {
        int touched = 0;
        for (const ir::participation& y : p_.participations.subspan(s.first_participation, s.participations))
            for (const ir::access& a : p_.accesses.subspan(y.first_access, y.touches())) touched += covers(a, leaf) ? 1 : 0;
        return touched == 1;
    }

    // An in-place result: the operation's argument, which it names or of which a role gives one to a collective over roles,
    // holds the bytes, and no other step reads it. The reading of the argument is forgiven; its definition was over, or the step could
    // not have read it; everything else must be over as for any write.
    constexpr bool alias_argument(const ir::step& s, const ir::participation& y, int r, const ir::access& a, int leaf) {
        const int n = p_.members.first[y.member].node;
        int argument = n < 0 ? -1 : g_.nodes.first[n].op->in_place;
        if (n >= 0 && (argument >= 0 ? g_.nodes.first[n].role < 0 : g_.nodes.first[n].op->in_place_only)) argument = 0;
        if (argument < 0) return fail(flaw::alias_wrong, s, a.buffer, writer(r));
        const ir::access& from = p_.accesses.first[y.first_access + argument];
        const int given = from.leaf + leaf - a.leaf;
        if (touches_.value[r] != values_ + given ||
            ((s.participations > 1 || y.touches() > 2) && !alone(s, given)))  // Only for speed: one of two accesses is the result's.
            return fail(flaw::alias_wrong, s, a.buffer, writer(r));
        touches_.rows[touches::width * r + stream_] = -1;
        return true;
    }

    vec<int> stamps_;
    vec<int> matters_;                             // the steps whose accesses matter in later runs
    int next_ = 0;                                 // ... and the next of them
    int needed_ = 0;                               // the steps up to the last one that has to do with earlier runs
    int clocks_[stream_count][stream_count] = {};  // how many of each stream's steps, over all runs, a stream knows to be complete
    int issued_[stream_count] = {};                // ... and how many were issued so far
    // Of the step: its stream, its number there, what it knows, and whether it takes memory that none of this run had before; of its
    // run, what a leaf's value is told by, see touches::value.
    int stream_ = 0, own_ = 0, *now_ = nullptr;
    bool claims_ = false;
    int values_ = 0;
};

}  // namespace dovetail::plan::detail
