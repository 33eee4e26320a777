// Programs made by hand for tests of passes: tasks with durations that the test chooses.
#pragma once

#include "whole.hpp"

#include <dovetail/cost/time.hpp>
#include <dovetail/ir/program.hpp>
#include <dovetail/ir/table.hpp>

#include <initializer_list>
#include <stdexcept>

namespace support {

namespace dv = dovetail;

struct build {
    dv::ir::program_data p;
    dv::vec<dv::task_cost> costs;

    constexpr explicit build(int roles = 1) { p.roles = roles; }

    constexpr int buffer(int role, std::int64_t bytes = 256, dv::ir::storage where = dv::ir::storage::arena) {
        dv::ir::buffer b;
        b.where = where;
        b.role = role;
        b.bytes = bytes;
        return add_whole(p, b);
    }
    constexpr int state(int role) { return buffer(role, 256, dv::ir::storage::state); }

    // Adds a task without participations; `part` adds a participation, `touch` an access, to the last one.
    constexpr int task(dv::op_kind kind, dv::stream_kind stream, std::int64_t cost, int node = -1) {
        dv::ir::task v;
        v.first_participation = p.participations.size();
        v.first_member = p.members.size();
        v.members = 1;
        v.stream = stream;
        v.kind = kind;
        p.tasks.push(v);
        dv::ir::member m;
        m.kind = kind;
        m.node = node;
        p.members.push(m);
        costs.push({cost});
        return p.tasks.size() - 1;
    }
    constexpr void participation(int role, int group_index = 0) {
        if (role < 0 || role >= p.roles) throw std::out_of_range("build: this program has no such role");
        dv::ir::participation x;
        x.role = role;
        x.member = p.members.size() - 1;
        x.group_index = group_index;
        x.first_access = p.accesses.size();
        p.participations.push(x);
        ++p.tasks.back().participations;
    }
    constexpr void touch(int b, dv::access_mode mode) {
        p.accesses.push(whole(p, b, mode));
        ++p.participations.back().accesses;
    }

    // Each of the following adds a task, `last()`, and returns the buffer of its result.
    constexpr int last() const { return p.tasks.size() - 1; }
    constexpr int compute(int role, std::initializer_list<int> arguments, std::int64_t cost) {
        task(dv::op_kind::compute, dv::stream_kind::compute, cost, p.tasks.size());
        participation(role);
        for (int a : arguments) touch(a, dv::access_mode::read);
        const int result = buffer(role);
        touch(result, dv::access_mode::write);
        return result;
    }
    constexpr void access_state(int role, int s, dv::access_mode mode, int node, std::int64_t cost = 1) {
        task(dv::op_kind::compute, dv::stream_kind::compute, cost, node);
        participation(role);
        touch(s, mode);
    }
    constexpr int send(int b, int to, std::int64_t cost) {
        const int from = p.buffers[b].role, result = buffer(to);
        task(dv::op_kind::transfer, dv::stream_kind::communication, cost);
        for (int r : {from < to ? from : to, from < to ? to : from}) {
            participation(r, r == from ? 0 : 1);
            if (r == from) touch(b, dv::access_mode::read);
            else touch(result, dv::access_mode::write);
        }
        return result;
    }
    // A collective of one role's streams.
    constexpr int collect(int role, int b, std::int64_t cost) {
        task(dv::op_kind::all_reduce, dv::stream_kind::communication, cost, p.tasks.size());
        participation(role);
        touch(b, dv::access_mode::read);
        const int result = buffer(role);
        touch(result, dv::access_mode::write);
        return result;
    }
    // A collective over roles, in ascending order; results in `to`.
    constexpr void join(dv::span<const int> from, int* to, std::int64_t cost) {
        task(dv::op_kind::all_reduce, dv::stream_kind::communication, cost, p.tasks.size());
        for (int i = 0; i < from.size(); ++i) {
            to[i] = buffer(p.buffers[from[i]].role);
            participation(p.buffers[from[i]].role, i);
            touch(from[i], dv::access_mode::read);
            touch(to[i], dv::access_mode::write);
        }
    }
    constexpr auto view() const { return dv::ir::view(p); }
};

// A small random generator with the same numbers on every platform.
struct numbers {
    std::uint32_t state = 1;
    constexpr int below(int n) {
        state = state * 1664525u + 1013904223u;
        return static_cast<int>((state >> 8) % static_cast<std::uint32_t>(n));
    }
};

// A program of about `tasks` tasks: compute, transfers, collectives within and over roles, states and in-place
// results; `sorted` or with the tasks in any order.
constexpr build random_program(std::uint32_t seed, int roles, int tasks, bool sorted = true) {
    numbers any{seed};
    build b{roles};
    dv::vec<int> values, home;
    for (int r = 0; r < roles; ++r) {
        values.push(b.compute(r, {}, any.below(50)));
        home.push(b.state(r));
    }
    while (b.p.tasks.size() < tasks) {
        const int what = any.below(10), x = values[any.below(values.size())], role = b.p.buffers[x].role;
        int y = values[any.below(values.size())];
        if (b.p.buffers[y].role != role) y = x;
        if (what < 5) values.push(b.compute(role, {x, y}, 1 + any.below(100)));
        else if (what == 5) b.access_state(role, home[role], static_cast<dv::access_mode>(any.below(3)), b.p.tasks.size(), any.below(50));
        else if (what == 6) values.push(b.collect(role, x, any.below(80)));
        else if (what < 9 && roles > 1) values.push(b.send(x, (role + 1 + any.below(roles - 1)) % roles, any.below(80)));
        else if (what == 9 && roles > 1) {
            dv::vec<int> from(roles, -1), to(roles);
            for (int i = values.size() - 1; i >= 0; --i)
                if (from[b.p.buffers[values[i]].role] < 0) from[b.p.buffers[values[i]].role] = values[i];
            b.join(from.view(), to.begin(), any.below(80));
            for (int t : to) values.push(t);
        }
    }
    if (sorted) return b;
    for (int i = b.p.tasks.size() - 1; i > 0; --i) {
        const int j = any.below(i + 1);
        const auto v = b.p.tasks[i];
        b.p.tasks[i] = b.p.tasks[j];
        b.p.tasks[j] = v;
        const auto c = b.costs[i];
        b.costs[i] = b.costs[j];
        b.costs[j] = c;
    }
    return b;
}

// The properties of every order.
constexpr bool is_linear_extension(dv::span<const int> order, int tasks, dv::span<const dv::ir::edge> edges) {
    if (order.size() != tasks) return false;
    dv::vec<int> place(tasks, -1);
    for (int i = 0; i < order.size(); ++i) {
        if (order[i] < 0 || order[i] >= tasks || place[order[i]] >= 0) return false;
        place[order[i]] = i;
    }
    for (const dv::ir::edge& e : edges)
        if (place[e.from] >= place[e.to]) return false;
    return true;
}

}  // namespace support
