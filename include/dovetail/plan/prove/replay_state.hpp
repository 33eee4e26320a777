// What a replay of one role knows at any time, and what it says where it refuses: the tables, the shadow of the memory with
// a row for each slot of each buffer, and the names of what can be wrong.
#pragma once

#include "shadow.hpp"
#include "states.hpp"

namespace dovetail::plan::detail {

class replay_state {
protected:
    constexpr replay_state(const ir::graph& g, const ir::program& p, const plan& made, int role, span<const int> own, state_versions& states)
        : g_{g},
          p_{p},
          made_{made},
          mine_{made.roles.first[role]},
          steps_{made.steps.first + mine_.first_step},
          role_{role},
          runs_{made.event_slots + 1},
          states_{states},
          cells_{cells_of(p, made, role, own)},
          tiles_{cells_.count},
          row_of_(p.buffers.count, unset{}) {
        const ir::buffer* buffers = p.buffers.first;
        int rows = 0, *row = row_of_.begin(), *low = cells_.low.begin();
        bool in_place = false;  // in memory that has no row yet
        bool has_states = false;
        // Of the buffer at hand; declared once, see check_conformance.
        const ir::buffer* x = nullptr;
        ir::storage where{};
        int b = 0, alias = 0;
        bool ordinary = false;
        for (const int *mine = own.begin(), *end = own.end(); mine != end; ++mine) {
            b = *mine;
            x = buffers + b;
            where = x->where;
            if (x->output) outputs_.push(b);
            alias = x->alias;
            if (alias >= 0) {
                if (alias < b)
                    row[b] = row[alias];
                else
                    in_place = true;
                continue;
            }
            if (where == ir::storage::constant) {
                row[b] = constant;
                continue;
            }
            has_states = has_states || where == ir::storage::state;
            ordinary = x->slots == 1 && where != ir::storage::state;
            row[b] = ordinary ? rows : unusual - rows;
            rows += x->slots;
            if (x->slots >= runs_) runs_ = x->slots + 1;
            // Not simply the tile it had before.
            if (!ordinary && low[b] >= 0) low[b] = -2 - low[b];  // Only for speed: `define` would look at all of them.
        }
        if (in_place)
            for (const int k : own)
                if (buffers[k].alias > k) row[k] = row[buffers[k].alias];
        touches_ = touches(rows);
        if (!has_states) return;  // Only for speed
        if (states_.expected.empty()) states_ = versions_of(g, p);
        for (const int k : own) {
            if (buffers[k].where != ir::storage::state) continue;
            int* first = touches_.rows.begin() + touches::width * (unusual - row[k]);
            first[0] = first[1] = first[2] = first[touches::write] = -1;
            first[touches::write_stream] = 0;
        }
    }
    replay_state(const replay_state&) = delete;  // it keeps pointers into the plan

    // What row_of_ says of the role's buffers that have no row of their own: stream indices, and, from `unusual` down, the first row of a
    // state or of a buffer with several slots.
    enum : int { constant = -1, unusual = -2 };

    constexpr int row(int b) const {
        const int r = row_of_[b];
        if (r >= 0) return r;
        const int slots = p_.buffers.first[b].slots;
        return unusual - r + (slots > 1 ? run_ % slots : 0);
    }
    // What touches::value says: run * buffers + buffer + 1, negative where others have taken bytes of it.
    constexpr int told(int r) const { return touches_.value[r] < 0 ? -touches_.value[r] - 1 : touches_.value[r] - 1; }
    constexpr int holder(int r) const { return touches_.value[r] == 0 ? -1 : told(r) % p_.buffers.count; }
    constexpr int run_of(int r) const { return touches_.value[r] == 0 ? -1 : told(r) / p_.buffers.count; }

    constexpr bool fail(flaw what, const ir::step& s, int buffer = -1, int other = -1) {
        bad_ = {what, role_, s.task, other, buffer, run_};
        return false;
    }

    // The task that wrote what lies in a row, -1 for none: every run issues the same steps on every stream.
    constexpr int writer(int r) const {
        if (touches_.value[r] == 0) return -1;
        const int* x = touches_.rows.begin() + touches::width * r;
        const int stream = x[touches::write_stream];
        int each = 0;
        for (int i = 0; i < mine_.steps; ++i) each += steps_[i].stream == stream ? 1 : 0;
        int i = 0;
        for (int place = x[touches::write] % each; steps_[i].stream != stream || place-- > 0; ++i) {}
        return steps_[i].task;
    }

    // Only for names.
    constexpr bool refuse_read(const ir::step& s, int r, int b) {
        const int held = holder(r), run = run_of(r);
        if (run != run_) return fail(flaw::stale_read, s, b, writer(r));
        if (held != b) return fail(flaw::alias_wrong, s, b, writer(r));
        if (touches_.value[r] < 0) return fail(flaw::overlap_of_live_bytes, s, b, writer(r));
        return fail(flaw::race, s, b, writer(r));
    }

    // The name of a conflict with what touched a row: `within` where an access of this run is not ordered before now, else it
    // is one across runs. A step that reads has no conflict with the reads before it. Only for names.
    constexpr flaw kind_of_conflict(const int* x, const int* now, flaw within, bool writing = true) const {
        int first_of_run[stream_count] = {};
        for (int i = 0; i < mine_.steps; ++i) first_of_run[steps_[i].stream] += run_;
        const int stream = x[touches::write_stream];
        bool here = x[touches::write] >= now[stream] && x[touches::write] >= first_of_run[stream];
        for (int l = 0; l < stream_count && writing; ++l) here = here || (x[l] >= now[l] && x[l] >= first_of_run[l]);
        return here ? within : flaw::race_across_runs;
    }

    // Only for names.
    constexpr bool refuse_take(const ir::step& s, int b, int former, const int* now) {
        const int r = row(former);
        if (p_.buffers.first[b].slots > 1 || p_.buffers.first[former].slots > 1) return fail(flaw::slot_not_dedicated, s, b, writer(r));
        if (run_of(r) == run_ && still_needed(s, former)) return fail(flaw::overlap_of_live_bytes, s, b, writer(r));
        return fail(kind_of_conflict(touches_.rows.begin() + touches::width * r, now, flaw::slot_shared_too_early), s, b, writer(r));
    }

    // Is the value in `former`'s bytes read by this step or a later one of the run, or by the caller? Only for names.
    constexpr bool still_needed(const ir::step& s, int former) const {
        bool from_here = false;
        for (const ir::step *t = steps_, *end = t + mine_.steps; t != end; ++t) {
            from_here = from_here || t->task == s.task;
            if (!from_here) continue;
            for (const ir::participation& y : p_.participations.subspan(t->first_participation, t->participations))
                for (const ir::access& a : p_.accesses.subspan(y.first_access, y.accesses))
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
    const ir::step* steps_;
    int role_, run_ = 0, runs_;
    state_versions& states_;  // of all roles; made by the first one that has any
    cells cells_;
    tiles tiles_;
    touches touches_;
    vec<int> row_of_;  // by buffer
    vec<int> outputs_;
    verdict bad_;
};

}  // namespace dovetail::plan::detail
