// Waits for memory: from an order with the times at which its tasks are to run, to what each step must know of the other streams of its
// role so that it may take over bytes. Lifetimes are taken by these times: a buffer may take the bytes of another one whose last use is to
// end before its own first use starts. Where neither data nor stream order says so, the step that takes the bytes over has to wait.
#pragma once

#include "../schedule/memory_booking.hpp"
#include "buffer_assignment.hpp"

namespace dovetail::pass {

// The steps of a booked order.
template <class Program>
constexpr basic_issue_order<Program> issue_order(const Program& p, const basic_booking<Program>& booking) {
    vec<unsigned char> stream(p.tasks.count, unset{});
    for (int v = 0; v < p.tasks.count; ++v) stream.first[v] = static_cast<unsigned char>(p.tasks.first[v].stream);
    return issue_order(p, booking.order.view(), stream.view());
}

// By step: the steps of each stream that end before it starts, among those issued before it.
template <class Program>
constexpr auto clocks_by_time(const basic_issue_order<Program>& issued, const basic_booking<Program>& times) {
    auto clocks = room<vector_clock, decltype(Program::participations)>::sized(issued.steps.size());
    for (const ir::role_plan& role : issued.roles) {
        const int* stream_steps = issued.stream_steps.begin() + stream_count * role.first_step;
        int count[stream_count] = {};
        for (int s = role.first_step; s < role.first_step + role.steps; ++s) {
            const issued_step& step = issued.steps.first[s];
            int* known = clocks.first[s].known;
            for (int l = 0; l < stream_count; ++l) {
                int done = count[l];
                const auto ends = [&](int k) { return times.end.first[issued.steps.first[stream_steps[l * role.steps + k]].task]; };
                while (l != step.stream && done > 0 && ends(done - 1) > times.start.first[step.task]) --done;
                known[l] = done;
            }
            ++count[step.stream];
        }
    }
    return clocks;
}

namespace detail {

// The bytes of an arena by the buffer that had them last.
class last_owners {
public:
    // Makes a buffer the owner of the bytes [begin, end); calls `taken_from(buffer)` for each that had some of them.
    template <class TakenFrom>
    constexpr void assign(std::int64_t begin, std::int64_t end, int buffer, TakenFrom taken_from) {
        for (int i = 0; i < list_.size(); ++i) {
            const piece had = list_.first[i];
            if (had.begin >= end || begin >= had.end) continue;
            taken_from(had.buffer);
            list_.first[i--] = list_.back();
            list_.cut(list_.size() - 1);
            if (had.begin < begin) kept_.push({had.begin, begin, had.buffer});
            if (end < had.end) kept_.push({end, had.end, had.buffer});
        }
        for (const piece& x : kept_) list_.push(x);
        kept_.clear();
        list_.push({begin, end, buffer});
    }

private:
    struct piece {
        std::int64_t begin = 0, end = 0;
        int buffer = 0;
    };
    vec<piece> list_, kept_;
};

}  // namespace detail

// The memory of a booked order.
template <class Program>
struct basic_booked_memory {
    room<ir::placement, decltype(Program::buffers)> placements;   // by buffer
    room<vector_clock, decltype(Program::participations)> waits;  // by step: how far each stream of its role must be before it starts
    std::int64_t bytes = 0;                                       // arena and states, of the role that needs most
};

namespace detail {

// By step: how far each stream of its role must be before the step may write bytes that another buffer had.
template <class Program>
constexpr auto waits_for_bytes(const Program& p, const basic_issue_order<Program>& issued, const basic_lifetimes<Program>& lives,
                               const basic_assignment<Program>& memory) {
    auto waits = room<vector_clock, decltype(Program::participations)>::sized(issued.steps.size());
    const auto wait = [&](int step, const vector_clock& release) {
        if (step < 0) return;
        int* known = waits.first[step].known;
        for (int l = 0; l < stream_count; ++l)
            if (known[l] < release.known[l]) known[l] = release.known[l];
    };
    for (int role = 0; role < p.roles; ++role) {
        last_owners device, host;
        for (int i = lives.first[role]; i < lives.first[role + 1]; ++i) {
            const int b = lives.defined.first[i];
            const ir::buffer& x = p.buffers.first[b];
            if (x.alias >= 0 || x.slots > 1 || x.bytes == 0 || !in_arena(x.where)) continue;
            const std::int64_t begin = memory.placements.first[b].offset;
            (x.where == ir::storage::host ? host : device).assign(begin, begin + x.bytes, b, [&](int owner) {
                if (lives.leaf_definition.empty()) return wait(lives.definition.first[b], lives.release.first[owner]);
                for (int leaf = x.first_leaf; leaf < x.first_leaf + x.leaves; ++leaf)
                    wait(lives.definition_of(leaf), lives.release.first[owner]);
            });
        }
    }
    return waits;
}

}  // namespace detail

// Assigns the buffers of a booked order to offsets by the times of the booking.
template <class Program>
constexpr basic_booked_memory<Program> book_memory(const Program& p, const basic_booking<Program>& booking) {
    const auto issued = issue_order(p, booking);
    const auto flow = synchronise(p, issued);
    const auto memory = assign_buffers(p, issued, clocks_by_time(issued, booking), flow.lives);
    basic_booked_memory<Program> made{memory.placements, detail::waits_for_bytes(p, issued, flow.lives, memory)};
    made.bytes = ir::largest_bytes({memory.roles.begin(), memory.roles.size()});
    return made;
}

// The buffer assignment of a booked order, whose offsets are known: with the sizes of the arenas.
template <class Program>
constexpr basic_assignment<Program> booked_assignment(const Program& p, const basic_issue_order<Program>& issued,
                                                      const basic_booked_memory<Program>& memory) {
    basic_assignment<Program> out{memory.placements, issued.roles};
    for (int b = 0; b < p.buffers.count; ++b) {
        const ir::buffer& x = p.buffers.first[b];
        ir::role_plan& role = out.roles[x.role];
        if (x.where == ir::storage::state) role.state_bytes += ir::aligned(x.bytes);
        if (!detail::in_arena(x.where)) continue;
        std::int64_t& bytes = x.where == ir::storage::host ? role.host_arena_bytes : role.arena_bytes;
        const std::int64_t end = memory.placements.first[b].offset + x.slots * ir::aligned(x.bytes);
        if (end > bytes) bytes = end;
    }
    return out;
}

// The edges of a program and those that its waits for memory add.
template <class Program, class Edges>
constexpr vec<ir::edge> with_memory_waits(const Program& p, const basic_booking<Program>& booking,
                                          const basic_booked_memory<Program>& memory, const Edges& edges) {
    const auto issued = issue_order(p, booking);
    vec<ir::edge> all({edges.begin(), edges.count});
    for (int r = 0; r < p.roles; ++r) {
        const ir::role_plan& role = issued.roles[r];
        const int* stream_steps = issued.stream_steps.begin() + stream_count * role.first_step;
        for (int s = role.first_step; s < role.first_step + role.steps; ++s) {
            const issued_step& step = issued.steps.first[s];
            for (int l = 0; l < stream_count; ++l) {
                const int count = memory.waits.first[s].known[l];
                if (l == step.stream || count == 0) continue;
                const int on = stream_steps[l * role.steps + count - 1];
                const ir::edge wait{issued.steps.first[on].task, step.task, r, -1, ir::edge_kind::output};
                all.push(wait);
            }
        }
    }
    return all;
}

}  // namespace dovetail::pass
