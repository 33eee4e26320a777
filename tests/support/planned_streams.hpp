// Runs the passes from the issue order to the waits across runs on a program; and computes the happens-before order that their waits imply,
// by brute force over unrolled runs.
#pragma once

#include "random_program.hpp"

#include <dovetail/pass/sync/waits_across_runs.hpp>

namespace support {

// Whether a buffer is dead before the step with this clock starts.
inline bool dead_before(const dv::pass::lifetimes& lives, int buffer, const dv::pass::vector_clock& at) {
    return !lives.held[buffer] && dv::pass::covers(at, lives.release[buffer]);
}

struct planned {
    dv::ir::program_data data;
    dv::vec<dv::ir::edge> edges;
    dv::vec<int> order;
    dv::vec<unsigned char> stream;
    dv::pass::issued_order issued;
    dv::pass::in_run waits;
    dv::pass::lifetimes lives;
    dv::pass::assignment memory;
    dv::vec<dv::pass::pending_wait> wrap;

    dv::ir::program program() const { return dv::ir::view(data); }
    int event_slots() const {
        int most = 1;
        for (const dv::pass::pending_wait& w : wrap) most = w.distance > most ? w.distance : most;
        return most;
    }
};

inline planned plan_streams(dv::ir::program_data data, dv::vec<dv::ir::edge> edges, dv::vec<int> order,
                          const dv::pass::assignment_options& options = {}) {
    planned p;
    p.data = std::move(data);
    p.edges = std::move(edges);
    p.order = std::move(order);
    for (const dv::ir::task& v : p.data.tasks) p.stream.push(static_cast<unsigned char>(v.stream));
    const dv::ir::program program = p.program();
    p.issued = dv::pass::issue_order(program, p.order.view(), p.stream.view());
    dv::pass::synchronisation flow = dv::pass::synchronise(program, p.issued);
    p.waits = std::move(flow.waits);
    p.lives = std::move(flow.lives);
    p.memory = dv::pass::assign_buffers(program, p.issued, p.waits.known, p.lives, options);
    p.wrap = dv::pass::waits_across_runs(program, p.issued, p.waits, p.lives, p.memory);
    return p;
}

inline planned plan_streams(dv::ir::program_data data, const dv::pass::assignment_options& options = {}) {
    auto edges = all_conflicts(dv::ir::view(data));
    dv::vec<int> order;
    for (int v = 0; v < data.tasks.size(); ++v) order.push(v);
    return plan_streams(std::move(data), std::move(edges), std::move(order), options);
}

// Step s (counted within the role) of run k is node k * steps + s. `left_out` is a wait that is not counted.
inline reachability happens_before(const planned& p, int role, int runs, const dv::pass::pending_wait* left_out = nullptr) {
    const dv::ir::role_plan& r = p.issued.roles[role];
    reachability reach{runs * r.steps};
    int last[dv::stream_count] = {-1, -1, -1};
    for (int k = 0; k < runs; ++k)
        for (int s = 0; s < r.steps; ++s) {
            int& before = last[p.issued.steps[r.first_step + s].stream];
            if (before >= 0) reach.edge(before, k * r.steps + s);
            before = k * r.steps + s;
        }
    for (const auto* list : {&p.waits.waits, &p.wrap})
        for (const dv::pass::pending_wait& w : *list) {
            const int from = w.on - r.first_step, to = w.step - r.first_step;
            if (&w == left_out || to < 0 || to >= r.steps) continue;
            for (int k = w.distance; k < runs; ++k) reach.edge((k - w.distance) * r.steps + from, k * r.steps + to);
        }
    reach.close();
    return reach;
}

// Conflicts over bytes that the waits leave unordered, or ordered the wrong way, in `runs` runs of a role.
inline int races(const planned& p, int role, int runs, const dv::pass::pending_wait* left_out = nullptr) {
    const dv::ir::program program = p.program();
    const reachability before = happens_before(p, role, runs, left_out);
    const dv::ir::role_plan& r = p.issued.roles[role];
    std::vector<touch> touches;
    std::vector<int> step;
    for (int s = r.first_step; s < r.first_step + r.steps; ++s)
        for (const dv::ir::participation& participation :
             program.participations.subspan(p.issued.steps[s].first_participation, p.issued.steps[s].participations))
            for (const dv::ir::access& a : program.accesses.subspan(participation.first_access, participation.touches())) {
                touches.push_back({p.issued.steps[s].task, a.buffer, dv::writes(a.mode)});
                step.push_back(s - r.first_step);
            }
    auto overlap = [&](int x, int kx, int y, int ky) {
        const int a = bytes_owner(program, x), b = bytes_owner(program, y);
        const dv::ir::buffer &bx = program.buffers[a], &by = program.buffers[b];
        const dv::ir::placement px = p.memory.placements[a], py = p.memory.placements[b];
        if (a != b && (bx.bytes == 0 || by.bytes == 0)) return false;
        if (px.offset < 0 || py.offset < 0) return a == b && kx % bx.slots == ky % by.slots;
        if ((bx.where == dv::ir::storage::host) != (by.where == dv::ir::storage::host)) return false;
        const std::int64_t fx = px.offset + (kx % bx.slots) * px.stride, fy = py.offset + (ky % by.slots) * py.stride;
        return fx < fy + by.bytes && fy < fx + bx.bytes;
    };
    int found = 0;
    for (int j = 0; j < runs; ++j)
        for (std::size_t x = 0; x < touches.size(); ++x)
            for (std::size_t y = 0; y < touches.size(); ++y) {
                if (!touches[x].write && !touches[y].write) continue;
                const int a = step[x], b = j * r.steps + step[y];
                if (a == b) {
                    // Within a step: distinct buffers must not share bytes.
                    found += bytes_owner(program, touches[x].buffer) != bytes_owner(program, touches[y].buffer) &&
                             overlap(touches[x].buffer, 0, touches[y].buffer, 0);
                    continue;
                }
                if (!overlap(touches[x].buffer, 0, touches[y].buffer, j)) continue;
                if (j > 0) {
                    found += !before(a, b);
                    continue;
                }
                const bool same = bytes_owner(program, touches[x].buffer) == bytes_owner(program, touches[y].buffer);
                if (same && touches[x].task < touches[y].task) found += !before(a, b);
                if (!same) found += !before(a, b) && !before(b, a);
            }
    // Of two buffers that share bytes in a run, one is dead before the other is defined.
    for (std::size_t x = 0; x < touches.size(); ++x)
        for (std::size_t y = 0; y < touches.size(); ++y)
            for (std::size_t z = 0; z < touches.size(); ++z) {
                const int ox = bytes_owner(program, touches[x].buffer);
                if (!touches[x].write || !touches[y].write || bytes_owner(program, touches[z].buffer) != ox) continue;
                if (!before(step[x], step[y]) || before(step[z], step[y])) continue;
                found += bytes_owner(program, touches[y].buffer) != ox && overlap(touches[x].buffer, 0, touches[y].buffer, 0);
            }
    return found;
}

}  // namespace support
