// Random programs like those of `expand`, drawn from a seed without a graph: compute, transfers, collectives and copies over a few roles,
// with states, workspace, in-place results and several runs in flight. And their dependencies by brute force, without code of the passes.
#pragma once

#include "whole.hpp"

#include <dovetail/ir/program.hpp>
#include <dovetail/ir/table.hpp>

#include <algorithm>
#include <random>
#include <vector>

namespace support {

namespace dv = dovetail;

struct program_knobs {
    int tasks = 40;
    int roles = 1;
    int slots = 1;           // of inputs, outputs and received values
    int window = 12;         // how far back arguments are taken from
    bool one_stream = false;
    bool collectives = true; // over roles
    bool states = true;
    bool aliases = true;
    bool empty = true;       // tensors of no bytes
    std::int64_t largest = 1 << 16;
};

class program_builder {
public:
    dv::ir::program_data data;

    explicit program_builder(int roles = 1) { data.roles = roles; }

    int buffer(int role, std::int64_t bytes, dv::ir::storage where = dv::ir::storage::arena, int slots = 1) {
        dv::ir::buffer b;
        b.where = where;
        b.role = role;
        b.bytes = bytes;
        b.slots = slots;
        return add_whole(data, b);
    }
    int task(dv::op_kind kind, dv::stream_kind stream) {
        dv::ir::task v;
        v.first_participation = data.participations.size();
        v.first_member = data.members.size();
        v.members = 1;
        v.stream = stream;
        v.kind = kind;
        dv::ir::member m;
        m.kind = kind;
        m.node = data.tasks.size();
        data.members.push(m);
        data.tasks.push(v);
        return data.tasks.size() - 1;
    }
    // Adds participations to the newest task, roles ascending.
    program_builder& participation(int role, std::vector<int> read, std::vector<int> written, std::vector<int> updated = {}) {
        dv::ir::participation p;
        p.role = role;
        p.member = data.members.size() - 1;
        p.group_index = data.tasks.back().participations++;
        p.first_access = data.accesses.size();
        for (int b : read) data.accesses.push(whole(data, b, dv::access_mode::read));
        for (int b : updated) data.accesses.push(whole(data, b, dv::access_mode::update));
        for (int b : written) data.accesses.push(whole(data, b, dv::access_mode::write));
        p.accesses = data.accesses.size() - p.first_access;
        data.participations.push(p);
        return *this;
    }
    int compute(int role, std::vector<int> read, std::vector<int> written, std::vector<int> updated = {},
                dv::stream_kind stream = dv::stream_kind::compute) {
        const int v = task(dv::op_kind::compute, stream);
        participation(role, read, written, updated);
        return v;
    }
    int transfer(int from, int source, int to, int target) {
        const int v = task(dv::op_kind::transfer, dv::stream_kind::communication);
        if (from < to) participation(from, {source}, {}).participation(to, {}, {target});
        else participation(to, {}, {target}).participation(from, {source}, {});
        return v;
    }
};

inline dv::ir::program_data random_program(unsigned seed, const program_knobs& k) {
    std::mt19937 random{seed};
    auto draw = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    program_builder b{k.roles};
    const int shape = draw(3);
    auto bytes = [&]() -> std::int64_t {
        if (k.empty && draw(40) == 0) return 0;
        if (shape == 0) return 1024;
        if (shape == 1) return std::int64_t{256} << draw(8);
        return 1 + static_cast<std::int64_t>(random() % static_cast<unsigned long>(k.largest));
    };
    std::vector<std::vector<int>> values(k.roles), states(k.roles);
    for (int r = 0; r < k.roles; ++r) {
        if (k.states)
            for (int i = draw(3); i > 0; --i) states[r].push_back(b.buffer(r, bytes(), dv::ir::storage::state));
        const int v = b.buffer(r, bytes(), dv::ir::storage::input, k.slots);
        b.task(dv::op_kind::input, dv::stream_kind::copy);
        b.participation(r, {}, {v});
        values[r].push_back(v);
    }
    auto pick = [&](int r) {
        const int n = static_cast<int>(values[r].size());
        const int back = draw(10) == 0 ? draw(n) : draw(std::min(n, k.window));
        return values[r][n - 1 - back];
    };
    while (b.data.tasks.size() < k.tasks) {
        const int r = draw(k.roles);
        const int what = draw(20);
        if (what < 11) {
            std::vector<int> read, written, updated;
            for (int i = 1 + draw(3); i > 0; --i)
                if (const int v = pick(r); std::find(read.begin(), read.end(), v) == read.end()) read.push_back(v);
            const dv::stream_kind stream = what == 0 ? dv::stream_kind::communication : dv::stream_kind::compute;
            if (!states[r].empty() && draw(4) == 0) {
                const int s = states[r][draw(static_cast<int>(states[r].size()))];
                if (draw(2) == 0) read.push_back(s);
                else updated.push_back(s);
            }
            for (int i = 1 + (draw(6) == 0); i > 0; --i) {
                const std::int64_t n = bytes();
                written.push_back(b.buffer(r, n));
            }
            const int taken = read[0];
            if (k.aliases && draw(5) == 0 && b.data.buffers[taken].where == dv::ir::storage::arena && b.data.buffers[taken].slots == 1 &&
                values[r].size() > 1) {
                const int owner = b.data.buffers[taken].alias < 0 ? taken : b.data.buffers[taken].alias;
                b.data.buffers[written[0]].alias = owner;
                b.data.buffers[written[0]].bytes = b.data.buffers[owner].bytes;
                values[r].erase(std::find(values[r].begin(), values[r].end(), taken));
            }
            for (int v : written)
                if (draw(12) != 0) values[r].push_back(v);
            if (draw(6) == 0) written.push_back(b.buffer(r, bytes(), dv::ir::storage::workspace));
            b.compute(r, read, written, updated, stream);
        } else if (what < 15 && k.roles > 1) {
            const int to = (r + 1 + draw(k.roles - 1)) % k.roles;
            const int source = pick(r);
            const int target = b.buffer(to, b.data.buffers[source].bytes, dv::ir::storage::arena, draw(3) == 0 ? k.slots : 1);
            b.transfer(r, source, to, target);
            values[to].push_back(target);
        } else if (what < 17 && k.roles > 1 && k.collectives) {
            b.task(dv::op_kind::all_reduce, dv::stream_kind::communication);
            const std::int64_t n = bytes();
            const int c = b.data.symmetric_sets++;
            // Any two or more roles: two collectives need not have a role in common.
            const int copies = draw(5) == 0 ? k.slots : 1;
            const int one = draw(k.roles), other = (one + 1 + draw(k.roles - 1)) % k.roles;
            for (int q = 0; q < k.roles; ++q) {
                if (q != one && q != other && draw(2) == 0) continue;
                const int target = b.buffer(q, n, dv::ir::storage::arena, copies);
                b.data.buffers[target].symmetric_set = c;
                b.participation(q, {pick(q)}, {target});
                values[q].push_back(target);
            }
        } else if (what < 19) {
            const int source = pick(r);
            const int host = b.buffer(r, b.data.buffers[source].bytes, dv::ir::storage::host);
            const int back = b.buffer(r, b.data.buffers[source].bytes);
            b.compute(r, {source}, {host}, {}, dv::stream_kind::copy);
            b.compute(r, {host}, {back}, {}, dv::stream_kind::copy);
            values[r].push_back(back);
        }
    }
    for (int r = 0; r < k.roles; ++r)
        for (int i = 1 + draw(2); i > 0; --i) {
            const int v = values[r].back();
            if (b.data.buffers[v].where != dv::ir::storage::arena || b.data.buffers[v].output) continue;
            b.data.buffers[v].output = true;
            if (b.data.buffers[v].alias < 0) {
                const int symmetric_set = b.data.buffers[v].symmetric_set;
                const auto with = [&](int other) {
                    return other == v || (symmetric_set >= 0 && b.data.buffers[other].symmetric_set == symmetric_set);
                };
                bool owner = false;
                for (const dv::ir::buffer& other : b.data.buffers) owner = owner || (other.alias >= 0 && with(other.alias));
                for (int other = 0; other < b.data.buffers.size() && !owner; ++other)
                    if (with(other)) b.data.buffers[other].slots = k.slots;
            }
            if (values[r].size() > 1) values[r].pop_back();
        }
    if (k.one_stream)
        for (dv::ir::task& v : b.data.tasks) v.stream = dv::stream_kind::compute;
    make_whole(b.data);
    return std::move(b.data);
}

struct touch {
    int task = 0;
    int buffer = 0;
    bool write = false;
};

// Touches of a role's buffers in written order.
inline std::vector<touch> touches_of(const dv::ir::program& p, int role) {
    std::vector<touch> out;
    for (int v = 0; v < p.tasks.size(); ++v)
        for (const dv::ir::participation& participation :
             p.participations.subspan(p.tasks[v].first_participation, p.tasks[v].participations))
            if (participation.role == role)
                for (const dv::ir::access& a : p.accesses.subspan(participation.first_access, participation.accesses))
                    out.push_back({v, a.buffer, dv::writes(a.mode)});
    return out;
}

inline int bytes_owner(const dv::ir::program& p, int b) { return p.buffers[b].alias < 0 ? b : p.buffers[b].alias; }

// All conflicts over the same buffer or an in-place chain, as written: not reduced at all.
inline dv::vec<dv::ir::edge> all_conflicts(const dv::ir::program& p) {
    dv::vec<dv::ir::edge> out;
    for (int r = 0; r < p.roles; ++r) {
        const auto touches = touches_of(p, r);
        for (std::size_t i = 0; i < touches.size(); ++i)
            for (std::size_t j = i + 1; j < touches.size(); ++j)
                if (touches[i].task != touches[j].task && (touches[i].write || touches[j].write) &&
                    bytes_owner(p, touches[i].buffer) == bytes_owner(p, touches[j].buffer))
                    out.push({touches[i].task, touches[j].task, r, touches[j].buffer, dv::ir::edge_kind::flow});
    }
    return out;
}

// A linear extension drawn from a seed.
inline dv::vec<int> random_order(unsigned seed, int tasks, const dv::vec<dv::ir::edge>& edges, int reach) {
    std::mt19937 random{seed};
    std::vector<int> waiting(tasks);
    std::vector<std::vector<int>> after(tasks);
    for (const auto& e : edges) {
        ++waiting[e.to];
        after[e.from].push_back(e.to);
    }
    std::vector<int> ready;
    dv::vec<int> order;
    for (int v = 0; v < tasks; ++v)
        if (waiting[v] == 0) ready.push_back(v);
    while (!ready.empty()) {
        std::sort(ready.begin(), ready.end());
        const std::size_t i = random() % std::min<std::size_t>(ready.size(), static_cast<std::size_t>(reach));
        const int v = ready[i];
        ready.erase(ready.begin() + static_cast<long>(i));
        order.push(v);
        for (int w : after[v])
            if (--waiting[w] == 0) ready.push_back(w);
    }
    return order;
}

// Which of the nodes comes before which, given edges that point from smaller to larger ids.
class reachability {
public:
    explicit reachability(int nodes) : words_{(nodes + 63) / 64}, before_(static_cast<std::size_t>(nodes) * words_), in_(nodes) {}
    void edge(int from, int to) { in_[to].push_back(from); }
    void close() {
        for (std::size_t n = 0; n < in_.size(); ++n)
            for (int from : in_[n]) {
                for (int w = 0; w < words_; ++w) row(n)[w] |= row(from)[w];
                row(n)[from / 64] |= 1ull << (from % 64);
            }
    }
    bool operator()(int from, int to) const { return (before_[static_cast<std::size_t>(to) * words_ + from / 64] >> (from % 64)) & 1; }

private:
    unsigned long long* row(std::size_t n) { return &before_[n * words_]; }
    int words_;
    std::vector<unsigned long long> before_;
    std::vector<std::vector<int>> in_;
};

}  // namespace support
