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
        : g_{g},
          p_{p},
          made_{made},
          mine_{made.roles.first[role]},
          role_{role},
          states_{versions_of(g, p, role)},
          cells_{cells_of(p, made, role)},
          tiles_{cells_.count},
          record_of_(p.buffers.count, -1),
          stamps_(mine_.events * made.rings) {
        int records = 0, most = made.rings;
        first_record_ = record_of_.begin();
        for (int b = 0; b < p.buffers.count; ++b) {
            const ir::buffer& x = p.buffers.first[b];
            if (x.role != role || x.where == ir::storage::constant) continue;
            if (x.output && x.where != ir::storage::state) outputs_.push(b);
            if (x.alias >= 0) continue;
            first_record_[b] = records;
            records += x.slots;
            if (x.slots > most) most = x.slots;
        }
        runs_ = most + 1;
        records_ = vec<record>(records);
        record_ = records_.begin();
        stamp_ = stamps_.begin();
        low_ = cells_.low.begin();
        high_ = cells_.high.begin();
        tile_owner_ = tiles_.owner.begin();
        tile_end_ = tiles_.end.begin();
        for (int b = 0; b < p.buffers.count; ++b) {
            const ir::buffer& x = p.buffers.first[b];
            if (x.role != role) continue;
            if (x.alias >= 0) first_record_[b] = first_record_[x.alias];
            if (x.where == ir::storage::state) record_[first_record_[b]].run = 0;
        }
    }
    replay(const replay&) = delete;  // it keeps pointers into itself

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
    // An event's place in its ring: how many steps of each lane were complete when it was recorded, and in which run.
    struct stamp {
        int done[lane_count] = {};
        int run = -1;
    };

    constexpr record& slot(int b) {
        const int slots = p_.buffers.first[b].slots;
        return record_[first_record_[b] + (slots > 1 ? run_ % slots : 0)];
    }
    constexpr bool fail(flaw what, const ir::step& s, int buffer = -1, int other = -1) {
        bad_ = {what, role_, s.vertex, other, buffer, run_};
        return false;
    }

    constexpr bool check_events() {
        const ir::step* steps = made_.steps.begin() + mine_.first_step;
        vec<int> recorded_by(mine_.events, -1);
        int* recorded = recorded_by.begin();
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
                if (recorded[w->event] != w->step || w->lag < 0 || w->lag > made_.rings)
                    return fail(flaw::wait_wrong_record, s, -1, steps[recorded[w->event]].vertex);
            }
        }
        return true;
    }

    // The loop that counts: every statement here is evaluated once for each step of each run.
    constexpr bool play(const ir::step& s) {
        const int lane = s.lane, own = issued_[lane]++;
        int* now = clocks_[lane].at;
        now[lane] = own;  // first in, first out: everything before it on the lane is complete
        for (const ir::wait *w = made_.waits.first + s.first_wait, *end = w + s.waits; w != end; ++w) {
            if (w->lag > run_) continue;
            // A wait binds to the latest record issued into its place of the ring.
            const stamp& x = stamp_[w->event * made_.rings + (run_ - w->lag) % made_.rings];
            if (x.run != run_ - w->lag) return fail(flaw::wait_wrong_record, s);
            now[0] = x.done[0] > now[0] ? x.done[0] : now[0], now[1] = x.done[1] > now[1] ? x.done[1] : now[1],
            now[2] = x.done[2] > now[2] ? x.done[2] : now[2];
        }
        for (const ir::part *y = p_.parts.first + s.first_part, *end = y + s.parts; y != end; ++y)
            for (const ir::access *a = p_.accesses.first + y->first_access, *last = a + y->accesses; a != last; ++a) {
                const ir::buffer& x = p_.buffers.first[a->buffer];
                if (first_record_[a->buffer] < 0 || x.role != role_) {
                    if (x.role == role_ && x.where == ir::storage::constant) continue;
                    return fail(flaw::wrong_access, s, a->buffer);
                }
                record& r = record_[first_record_[a->buffer] + (x.slots > 1 ? run_ % x.slots : 0)];
                if (x.where == ir::storage::state) {
                    if (!touch_state(s, *y, r, *a, now, own)) return false;
                } else if (a->mode == access_mode::read) {
                    if (r.holder != a->buffer || r.run != run_ || !r.intact || r.write >= now[r.write_lane]) return refuse_read(s, r, a->buffer);
                    r.read[lane] = own;
                } else {
                    if (!define(s, *y, x, r, a->buffer, now)) return false;
                    r = {a->buffer, run_, own, lane, {-1, -1, -1}, s.vertex, true};
                }
            }
        if (s.event >= 0) {
            stamp& x = stamp_[s.event * made_.rings + run_ % made_.rings];
            x = {{now[0], now[1], now[2]}, run_};
            x.done[lane] = own + 1;
        }
        return true;
    }

    // Everything that touched it happens before now.
    static constexpr bool before(const record& r, const int* now) {
        return r.write < now[r.write_lane] && r.read[0] < now[0] && r.read[1] < now[1] && r.read[2] < now[2];
    }

    constexpr bool refuse_read(const ir::step& s, const record& r, int b) {
        if (r.run == run_ && r.holder >= 0 && r.holder != b) return fail(flaw::alias_wrong, s, b, r.vertex);
        if (r.run != run_ || r.holder != b) return fail(flaw::stale_read, s, b, r.vertex);
        if (!r.intact) return fail(flaw::overlap_of_live_bytes, s, b, r.vertex);
        return fail(flaw::race, s, b, r.vertex);
    }

    // The name of a conflict: `within` where an access of this run is not ordered before now, else it is one across runs.
    // A step that reads has no conflict with the reads before it.
    constexpr flaw kind_of_conflict(const record& r, const int* now, flaw within, bool writing = true) const {
        int first_of_run[lane_count] = {};
        const ir::step* steps = made_.steps.begin() + mine_.first_step;
        for (int i = 0; i < mine_.steps; ++i) first_of_run[steps[i].lane] += run_;
        bool here = r.write >= now[r.write_lane] && r.write >= first_of_run[r.write_lane];
        for (int l = 0; l < lane_count && writing; ++l) here = here || (r.read[l] >= now[l] && r.read[l] >= first_of_run[l]);
        return here ? within : flaw::race_across_runs;
    }

    // Does only one access of the step touch what lies in this record? It may then read and write it at once.
    constexpr bool alone(const ir::step& s, const record& r) {
        int touched = 0;
        for (const ir::part& y : p_.parts.part(s.first_part, s.parts))
            for (const ir::access& a : p_.accesses.part(y.first_access, y.accesses)) touched += a.buffer == r.holder ? 1 : 0;
        return touched == 1;
    }

    constexpr bool touch_state(const ir::step& s, const ir::part& y, record& r, const ir::access& a, const int* now, int own) {
        const int due = states_.expected[static_cast<int>(&a - p_.accesses.first)] + run_ * states_.updates[a.buffer];
        if (a.mode == access_mode::read) {
            // a second mention of what this launch gets as `inout`
            for (const ir::access* k = p_.accesses.first + y.first_access; k != &a; ++k)
                if (k->buffer == a.buffer && k->mode == access_mode::update) return true;
            if (r.run != due) return fail(flaw::wrong_value, s, a.buffer, r.vertex);
            if (r.write >= now[r.write_lane]) return fail(kind_of_conflict(r, now, flaw::race, false), s, a.buffer, r.vertex);
            r.read[s.lane] = own;
            return true;
        }
        if (!before(r, now)) return fail(kind_of_conflict(r, now, flaw::race), s, a.buffer, r.vertex);
        if (r.run != due) return fail(flaw::wrong_value, s, a.buffer, r.vertex);
        r = {a.buffer, due + 1, own, s.lane, {-1, -1, -1}, s.vertex, true};
        return true;
    }

    // The buffer that the part's first result may take over, -1 for none. A role gives one argument to a collective over roles.
    constexpr int in_place_argument(const ir::part& y) const {
        const int n = p_.members.first[y.member].node;
        if (n < 0) return -1;
        const operation& op = *g_.nodes.first[n].op;
        if (op.in_place < 0 && !op.in_place_only) return -1;
        const int i = op.in_place < 0 || g_.nodes.first[n].role < 0 ? 0 : op.in_place;
        return i < y.accesses ? p_.accesses.first[y.first_access + i].buffer : -1;
    }

    // May this step write b, whose record is r?
    constexpr bool define(const ir::step& s, const ir::part& y, const ir::buffer& x, record& r, int b, const int* now) {
        const int low = low_[b], high = high_[b];
        if (x.alias >= 0) {
            if (!take_over(s, y, r, b)) return false;
        } else if (low < high && (x.slots == 1 || run_ == 0)) {
            if (tile_end_[low] != high) {  // other tiles than last time
                int other = -1;
                const auto leave = [&](int o) {
                    record& former = record_[first_record_[other = o]];
                    former.intact = false;
                    return o == b || (before(former, now) && x.slots == 1 && p_.buffers.first[o].slots == 1);
                };
                if (!tiles_.take(b, low, high, leave)) return refuse_take(s, b, other, now);
            } else if (tile_owner_[low] >= 0 && tile_owner_[low] != b) {
                record& former = record_[first_record_[tile_owner_[low]]];
                if (x.slots > 1 || p_.buffers.first[tile_owner_[low]].slots > 1 || former.write >= now[former.write_lane] || former.read[0] >= now[0] ||
                    former.read[1] >= now[1] || former.read[2] >= now[2])
                    return refuse_take(s, b, tile_owner_[low], now);
                former.intact = false;
                tile_owner_[low] = b;
                return true;  // b's own last accesses came before those of whoever took all its bytes
            } else {
                tile_owner_[low] = b;
            }
        }
        return x.bytes == 0 || before(r, now) || fail(kind_of_conflict(r, now, flaw::race), s, b, r.vertex);
    }

    // An in-place result: the operation's argument holds the bytes, and nobody else looks at it. The reading of the argument
    // is forgiven, everything else must be over as for any write.
    constexpr bool take_over(const ir::step& s, const ir::part& y, record& r, int b) {
        const int given = in_place_argument(y);
        if (given < 0 || given == b || r.holder != given || r.run != run_ || !r.intact || !alone(s, r)) return fail(flaw::alias_wrong, s, b, r.vertex);
        r.read[s.lane] = -1;
        return true;
    }

    constexpr bool refuse_take(const ir::step& s, int b, int former, const int* now) {
        const record& r = record_[first_record_[former]];
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
    clock clocks_[lane_count];
    int *first_record_ = nullptr, *low_ = nullptr, *high_ = nullptr, *tile_owner_ = nullptr, *tile_end_ = nullptr;
    record* record_ = nullptr;
    stamp* stamp_ = nullptr;
    int issued_[lane_count] = {};
    verdict bad_;
};

}  // namespace dovetail::plan::detail
