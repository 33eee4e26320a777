// The state of the replay of one role, and the verdicts by which it refuses a plan: the tables, the shadow of the memory with a row for
// each slot of each leaf, and the names of what can be wrong.
#pragma once

#include "shadow.hpp"
#include "states.hpp"

namespace dovetail::plan::detail {

class replay_state {
protected:
    constexpr replay_state(const ir::graph& g, const ir::program& p, const plan& made, int role, span<const int> own,
                           state_versions& states)
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
          row_of_(p.leaves.count, unset{}) {
        number_rows(own);
        if (!has_states_) return;  // Only for speed
        if (states_.updates.empty()) states_ = versions_of(g, p);
        for (const int b : own) {
            const ir::buffer& x = p.buffers.first[b];
            if (x.where != ir::storage::state) continue;
            for (int leaf = x.first_leaf, end = leaf + x.leaves; leaf < end; ++leaf) {
                int* first = touches_.rows.begin() + touches::width * (unusual - row_of_[leaf]);
                first[0] = first[1] = first[2] = first[touches::write] = -1;
                first[touches::write_stream] = 0;
            }
        }
    }
    replay_state(const replay_state&) = delete;  // it keeps pointers into the plan

    // What row_of_ says of leaves that have no row of their own: axis indices, and, from `unusual` down, the first row of a leaf of a
    // state or of a buffer with several slots.
    enum : int { constant = -1, unusual = -2 };

    // In this run, of buffer b's.
    constexpr int row(int leaf, int b) const {
        const int r = row_of_[leaf];
        if (r >= 0) return r;
        const int slots = p_.buffers.first[b].slots;
        return unusual - r + (slots > 1 ? run_ % slots : 0);
    }
    // What touches::value says: run * leaves + leaf + 1, negative where others have taken bytes of it.
    constexpr int version(int r) const { return touches_.value[r] < 0 ? -touches_.value[r] - 1 : touches_.value[r] - 1; }
    constexpr int holder(int r) const { return touches_.value[r] == 0 ? -1 : version(r) % p_.leaves.count; }
    constexpr int run_of(int r) const { return touches_.value[r] == 0 ? -1 : version(r) / p_.leaves.count; }

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
    constexpr bool refuse_read(const ir::step& s, int r, int leaf, int b) {
        const int held = holder(r), run = run_of(r);
        if (run != run_) return fail(flaw::stale_read, s, b, writer(r));
        if (held != leaf) return fail(flaw::alias_wrong, s, b, writer(r));
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

    // `former`: the leaf that had the bytes. Only for names.
    constexpr bool refuse_take(const ir::step& s, int b, int former, const int* now) {
        const int owner = buffer_of(former), r = row(former, owner);
        if (p_.buffers.first[b].slots > 1 || p_.buffers.first[owner].slots > 1) return fail(flaw::slot_not_dedicated, s, b, writer(r));
        if (run_of(r) == run_ && still_needed(s, owner, former)) return fail(flaw::overlap_of_live_bytes, s, b, writer(r));
        return fail(kind_of_conflict(touches_.rows.begin() + touches::width * r, now, flaw::slot_shared_too_early), s, b, writer(r));
    }

    // Only for names.
    constexpr int buffer_of(int leaf) const {
        int b = 0;
        while (leaf - p_.buffers.first[b].first_leaf >= p_.buffers.first[b].leaves) ++b;
        return b;
    }

    // Is the value in the bytes of leaf `former`, of buffer `owner`, read by this step or a later one of the run, or by the caller?
    // Only for names.
    constexpr bool still_needed(const ir::step& s, int owner, int former) const {
        const int place = former - p_.buffers.first[owner].first_leaf;
        bool from_here = false;
        for (const ir::step *t = steps_, *end = t + mine_.steps; t != end; ++t) {
            from_here = from_here || t->task == s.task;
            if (!from_here) continue;
            for (const ir::participation& y : p_.participations.subspan(t->first_participation, t->participations))
                for (const ir::access& a : p_.accesses.subspan(y.first_access, y.touches())) {
                    const ir::buffer& x = p_.buffers.first[a.buffer];
                    const int at = x.first_leaf + place - a.leaf;
                    if ((a.buffer == owner || x.alias == owner) && at >= 0 && at < a.leaves) return true;
                }
        }
        for (int b : outputs_)
            if (b == owner || p_.buffers.first[b].alias == owner) return true;
        return false;
    }

    // Which row each leaf has: in-place results that of the bytes they take over.
    constexpr void number_rows(span<const int> own) {
        const ir::buffer* buffers = p_.buffers.first;
        int rows = 0, *row = row_of_.begin(), *low = cells_.low.begin();
        bool in_place = false;  // in memory that has no row yet
        // Of the buffer or leaf at hand; declared once, see plan/compile/README.md.
        const ir::buffer* x = nullptr;
        int leaf = 0, last = 0;
        bool ordinary = false;
        for (const int *mine = own.begin(), *end = own.end(); mine != end; ++mine) {
            x = buffers + *mine;
            if (x->output) outputs_.push(*mine);
            if (x->alias >= 0) {
                if (x->alias < *mine)
                    share_rows(*x);
                else
                    in_place = true;
                continue;
            }
            ordinary = x->slots == 1 && x->where != ir::storage::state;
            has_states_ = has_states_ || x->where == ir::storage::state;
            for (leaf = x->first_leaf, last = leaf + x->leaves; leaf < last; ++leaf) {
                if (x->where == ir::storage::constant) {
                    row[leaf] = constant;
                    continue;
                }
                row[leaf] = ordinary ? rows : unusual - rows;
                rows += x->slots;
                // Not simply the tile it had before.
                if (!ordinary && low[leaf] >= 0) low[leaf] = -2 - low[leaf];  // Only for speed: `define` would look at all of them.
            }
            if (x->slots >= runs_) runs_ = x->slots + 1;
        }
        if (in_place)
            for (const int b : own)
                if (buffers[b].alias > b) share_rows(buffers[b]);
        touches_ = touches(rows);
    }
    constexpr void share_rows(const ir::buffer& x) {
        const int first = p_.buffers.first[x.alias].first_leaf;
        for (int i = 0; i < x.leaves; ++i) row_of_[x.first_leaf + i] = row_of_[first + i];
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
    vec<int> row_of_;  // by leaf
    vec<int> outputs_;
    bool has_states_ = false;
    verdict bad_;
};

}  // namespace dovetail::plan::detail
