// Valid graphs from a seed: knobs say what may occur. Longer than a header should be: what kinds of statement there are and what each may read
// stands in one place.
#pragma once

#include "sketch.hpp"

namespace support {

struct knobs {
    int roles = 4;
    int axes = 2;
    int width = 3;
    int ranks = 16;
    int nodes_low = 3;
    int nodes_high = 22;
    int runs = 4;
    bool states = true;
    bool collectives = true;
    bool effects = true;
    bool bundles = true;
    bool folding = true;
};

namespace detail {

struct drawing {
    knobs k;
    chooser r;
    sketch s;
    std::vector<int> reads;
    std::vector<char> locked, rooted;
    int bundles = 0;
    std::vector<int> producer;  // statement that computes a value

    int symbol(dv::ir::symbol_kind kind, dv::tensor_type type, int role) {
        dv::ir::symbol x;
        x.kind = kind;
        x.type = type;
        x.role = role;
        x.initialised = kind == dv::ir::symbol_kind::state;
        s.symbols.push_back(x);
        reads.push_back(0);
        locked.push_back(0);
        rooted.push_back(0);
        producer.push_back(-1);
        return static_cast<int>(s.symbols.size()) - 1;
    }
    int extent_index() { return r.chance(75) ? r.below(5) : r.below(extent_count); }
    bool same_mesh(int a, int b) const {
        if (s.roles[a].size() != s.roles[b].size()) return false;
        for (std::size_t i = 0; i < s.roles[a].size(); ++i)
            if (s.roles[a][i].axis != s.roles[b][i].axis || s.roles[a][i].width != s.roles[b][i].width) return false;
        return true;
    }
    bool readable(int id, int role) const {
        const dv::ir::symbol& x = s.symbols[id];
        if (locked[id] || rooted[id] || x.in_host_memory) return false;
        if (x.kind == dv::ir::symbol_kind::lane_index) {
            for (const auto& m : s.roles[role])
                if (x.index_axis >> m.axis & 1u) return true;
            return false;
        }
        if (x.kind == dv::ir::symbol_kind::state) return x.role == role;
        if (x.kind == dv::ir::symbol_kind::input && x.role < 0) return true;
        if (x.role < 0) {
            const statement& n = s.nodes[producer[id]];
            if (std::find(n.targets.begin(), n.targets.end(), role) != n.targets.end()) return true;
            const bool alike = n.kind == dv::op_kind::all_reduce || n.kind == dv::op_kind::all_gather || n.kind == dv::op_kind::broadcast;
            return alike && same_mesh(n.targets[0], role);
        }
        return x.role == role || same_mesh(x.role, role);
    }
    template <class Accept>
    int pick(int role, Accept accept) {
        std::vector<int> all, fresh;
        for (int i = 0; i < static_cast<int>(s.symbols.size()); ++i)
            if (readable(i, role) && accept(i)) {
                all.push_back(i);
                if (reads[i] == 0) fresh.push_back(i);
            }
        if (all.empty()) return -1;
        if (!fresh.empty() && r.chance(55)) return fresh[r.below(static_cast<int>(fresh.size()))];
        return all[r.below(static_cast<int>(all.size()))];
    }
    bool words(int id) const { return s.symbols[id].type.type == dv::element::uint64; }
    int place(statement n) {
        for (int a : n.arguments) ++reads[a];
        for (int x : n.results)
            if (x >= 0 && !n.update) producer[x] = static_cast<int>(s.nodes.size());
        s.nodes.push_back(std::move(n));
        return static_cast<int>(s.nodes.size()) - 1;
    }
    dv::operation* operation(const char* stem, dv::op_kind kind, int arguments) {
        dv::operation* op = s.pool->operation(stem + std::to_string(s.pool->operations.size()));
        op->kind = kind;
        op->arguments = arguments;
        return op;
    }
    dv::operation* compute_operation(int arguments) {
        dv::operation* op = operation("op", dv::op_kind::compute, arguments);
        op->work = work_rules[r.below(5)];
        op->workspace = r.chance(75) ? nullptr : workspace_rules[1 + r.below(4)];
        op->has_work = op->work != nullptr;
        op->has_workspace = op->workspace != nullptr;
        op->has_effect = k.effects && r.chance(6);
        return op;
    }

    void compute(int role) {
        statement n;
        n.role = role;
        const int wanted = r.chance(8) ? 0 : r.between(1, 3);
        const bool only = r.chance(12);
        if (only) {
            const int x = pick(role, [&](int i) {
                return s.symbols[i].kind == dv::ir::symbol_kind::value && s.symbols[i].role == role && reads[i] == 0 && words(i);
            });
            if (x >= 0) {
                n.arguments.push_back(x);
                locked[x] = 1;
            }
        }
        const bool must = !n.arguments.empty();
        while (static_cast<int>(n.arguments.size()) < wanted) {
            const int x = pick(role, [](int) { return true; });
            if (x < 0) break;
            n.arguments.push_back(x);
        }
        dv::operation* op = compute_operation(static_cast<int>(n.arguments.size()));
        n.op = op;
        int vectors = 0;  // leading arguments that a result can be like
        while (vectors < static_cast<int>(n.arguments.size()) && words(n.arguments[vectors])) ++vectors;
        std::vector<dv::tensor_type> types;
        if (must || (vectors > 0 && r.chance(45))) {
            const int results = must ? 1 : r.between(1, vectors);
            op->infer = like_rule(results);
            for (int j = 0; j < results; ++j) types.push_back(s.symbols[n.arguments[j]].type);
        } else {
            const int results = r.chance(75) ? 1 : r.between(1, 3);
            const int kind = extent_index();
            op->infer = sized_rule(kind, results);
            for (int j = 0; j < results; ++j) types.push_back(vector_of(extents[(kind + j) % extent_count]));
        }
        if (must) op->in_place = 0, op->in_place_only = true;
        else if (r.chance(50))
            for (int i = 0; i < static_cast<int>(n.arguments.size()); ++i)
                if (s.symbols[n.arguments[i]].type == types[0]) op->in_place = i;
        int kept = 0;
        for (std::size_t j = 0; j < types.size(); ++j) {
            const bool may_drop = j + 1 < types.size() || kept > 0;
            if (may_drop && !(must && j == 0) && r.chance(25)) n.results.push_back(-1);
            else n.results.push_back(symbol(dv::ir::symbol_kind::value, types[j], role)), ++kept;
        }
        place(std::move(n));
    }

    // An update by an operation: of one state, wholly overwritten or in place, or of several in place.
    void update(int role) {
        std::vector<int> states;
        for (int i = 0; i < static_cast<int>(s.symbols.size()); ++i)
            if (s.symbols[i].kind == dv::ir::symbol_kind::state && s.symbols[i].role == role) states.push_back(i);
        if (states.empty()) return compute(role);
        const int first = states[r.below(static_cast<int>(states.size()))];
        if (k.collectives && r.chance(25) && update_by_communication(role, first)) return;
        statement n;
        n.role = role;
        n.update = true;
        n.results = {first};
        const bool in_place = r.chance(60);
        if (in_place) {
            n.arguments = {first};
            if (states.size() > 1 && r.chance(40)) {
                const int second = states[r.below(static_cast<int>(states.size()))];
                if (second != first) n.arguments.push_back(second), n.results.push_back(second);
            }
        }
        for (int extra = r.between(in_place ? 0 : 1, 2); extra > 0; --extra) {
            const int x = pick(role, [&](int i) { return std::find(n.results.begin(), n.results.end(), i) == n.results.end(); });
            if (x >= 0) n.arguments.push_back(x);
        }
        dv::operation* op = compute_operation(static_cast<int>(n.arguments.size()));
        if (in_place) {
            op->infer = like_rule(static_cast<int>(n.results.size()));
            if (r.chance(50)) op->in_place = 0, op->in_place_only = r.chance(50);
        } else {
            int kind = 0;
            while (extents[kind] != s.symbols[first].type.extent[0]) ++kind;
            op->infer = sized_rule(kind, 1);
        }
        n.op = op;
        place(std::move(n));
    }

    unsigned some_axes(int role) {
        unsigned mask = 0;
        while (mask == 0)
            for (const auto& m : s.roles[role])
                if (r.chance(60)) mask |= 1u << m.axis;
        return mask;
    }
    // The result's type for an argument of type t on n members; invalid where it does not split.
    static dv::tensor_type collected(dv::op_kind kind, dv::tensor_type t, int n) {
        using enum dv::op_kind;
        const std::int64_t e = t.extent[0];
        if (kind == all_gather || kind == gather) return e * n > 144 ? dv::tensor_type{} : vector_of(e * n);
        if (kind == reduce_scatter || kind == scatter) return e % n != 0 ? dv::tensor_type{} : vector_of(e / n);
        if (kind == all_to_all && e % n != 0) return {};
        return t;
    }
    dv::op_kind collective_kind(bool lanes) {
        return static_cast<dv::op_kind>(r.between(static_cast<int>(lanes ? dv::op_kind::shift : dv::op_kind::all_reduce), static_cast<int>(dv::op_kind::scatter)));
    }
    statement communication(dv::op_kind kind, int arguments) {
        statement n;
        n.kind = kind;
        if (dv::is_reducing(kind)) n.reduce = static_cast<dv::reduction>(r.between(1, 4));
        if (kind == dv::op_kind::shift) {
            n.offset = r.chance(50) ? 1 : r.between(-2, 2);
            if (n.offset == 0) n.offset = -1;
            n.open = r.chance(50);
        }
        dv::operation* op = operation(dv::name_of(kind), kind, arguments);
        op->reduce = n.reduce;
        op->offset = n.offset;
        op->open = n.open;
        if (kind == dv::op_kind::all_reduce) op->in_place = 0;
        n.op = op;
        return n;
    }
    bool update_by_communication(int role, int state) {
        if (r.chance(15)) {  // from pinned host memory
            for (int i = 0; i < static_cast<int>(s.symbols.size()); ++i)
                if (s.symbols[i].in_host_memory && s.symbols[i].role == role && s.symbols[i].type == s.symbols[state].type) {
                    statement n = communication(dv::op_kind::from_host, 1);
                    n.role = role;
                    n.update = true;
                    n.arguments = {i};
                    n.results = {state};
                    place(std::move(n));
                    return true;
                }
        }
        if (s.roles[role].empty()) return false;
        const dv::op_kind kind = collective_kind(true);
        if (kind == dv::op_kind::reduce || kind == dv::op_kind::gather) return false;
        statement n = communication(kind, 1);
        n.role = role;
        n.update = true;
        n.axes = kind == dv::op_kind::shift ? 1u << s.roles[role][r.below(static_cast<int>(s.roles[role].size()))].axis : some_axes(role);
        const int width = width_of(s, role, n.axes);
        if (dv::is_rooted(kind)) n.root = r.below(width);
        const int x = pick(role, [&](int i) { return words(i) && collected(kind, s.symbols[i].type, width) == s.symbols[state].type; });
        if (x < 0) return false;
        n.arguments = {x};
        n.results = {state};
        place(std::move(n));
        return true;
    }
    bool collective_over_lanes(int role, int bundle, int below) {
        if (s.roles[role].empty()) return false;
        const dv::op_kind kind = collective_kind(true);
        statement n = communication(kind, 1);
        n.role = role;
        n.bundle = bundle;
        n.axes = kind == dv::op_kind::shift ? 1u << s.roles[role][r.below(static_cast<int>(s.roles[role].size()))].axis : some_axes(role);
        const int width = width_of(s, role, n.axes);
        if (dv::is_rooted(kind)) n.root = r.below(width);
        const int x = pick(role, [&](int i) { return i < below && words(i) && collected(kind, s.symbols[i].type, width).valid(); });
        if (x < 0) return false;
        n.arguments = {x};
        const int y = symbol(dv::ir::symbol_kind::value, collected(kind, s.symbols[x].type, width), role);
        n.results = {y};
        const statement made = n;
        place(std::move(n));
        if (kind != dv::op_kind::reduce && kind != dv::op_kind::gather) return true;
        rooted[y] = 1;  // only the root may read it
        const dv::op_kind back = r.chance(50) ? dv::op_kind::broadcast : dv::op_kind::scatter;
        if (bundle >= 0 || r.chance(40) || !collected(back, s.symbols[y].type, width).valid()) return true;
        statement m = communication(back, 1);
        m.role = role;
        m.axes = made.axes;
        m.root = made.root;
        m.arguments = {y};
        m.results = {symbol(dv::ir::symbol_kind::value, collected(back, s.symbols[y].type, width), role)};
        place(std::move(m));
        return true;
    }
    // Members of one bundle have the same roles in the same parts; `model` is a statement to be like, or null.
    bool collective_over_roles(int bundle, int below, const statement* model) {
        using enum dv::op_kind;
        std::vector<int> members;
        dv::op_kind kind = collective_kind(false);
        bool fans_out = kind == broadcast || kind == scatter;
        int first = -1;
        bool takes = true;  // the giver receives too
        if (model != nullptr) {
            const bool out = model->kind == broadcast || model->kind == scatter;
            if (out != fans_out || dv::is_rooted(model->kind) != dv::is_rooted(kind)) kind = model->kind;
            fans_out = out;
            for (int a : model->arguments) members.push_back(s.symbols[a].role);
            if (out) members = model->targets;
            first = out || dv::is_rooted(kind) ? model->root : members[0];
            takes = !out || std::find(members.begin(), members.end(), first) != members.end();
        } else {
            const int lead = r.below(static_cast<int>(s.roles.size()));
            for (int i = 0; i < static_cast<int>(s.roles.size()); ++i)
                if (i == lead || (same_mesh(lead, i) && r.chance(75))) members.push_back(i);
            if (members.size() < 2) return false;
            for (int i = static_cast<int>(members.size()) - 1; i > 0; --i) std::swap(members[i], members[r.below(i + 1)]);
            first = members[r.below(static_cast<int>(members.size()))];
            takes = !fans_out || r.chance(60);
            if (!takes) members.erase(std::find(members.begin(), members.end(), first));
        }
        const int count = static_cast<int>(members.size());
        const auto here = [&](int role) {
            return [this, role, below](int i) {
                return i < below && words(i) && s.symbols[i].kind != dv::ir::symbol_kind::lane_index && s.symbols[i].kind != dv::ir::symbol_kind::state && s.symbols[i].role == role;
            };
        };
        const int x = pick(first, [&](int i) { return here(first)(i) && collected(kind, s.symbols[i].type, count).valid(); });
        if (x < 0) return false;
        statement n = communication(kind, 1);
        n.bundle = bundle;
        if (dv::is_rooted(kind)) n.root = first;
        n.targets = members;
        if (fans_out) {
            n.arguments = {x};
        } else {
            for (int m : members) {
                const int y = m == first ? x : pick(m, [&](int i) { return here(m)(i) && s.symbols[i].type == s.symbols[x].type; });
                if (y < 0) return false;
                n.arguments.push_back(y);
            }
            if (dv::is_rooted(kind)) n.targets = {first};
        }
        s.pool->operations.back().arguments = static_cast<int>(n.arguments.size());
        n.results = {symbol(dv::ir::symbol_kind::value, collected(kind, s.symbols[x].type, count), -1)};
        place(std::move(n));
        return true;
    }
    bool host_copy(int role) {
        std::vector<int> pinned;
        for (int i = 0; i < static_cast<int>(s.symbols.size()); ++i)
            if (s.symbols[i].in_host_memory && s.symbols[i].role == role) pinned.push_back(i);
        const bool back = !pinned.empty() && r.chance(60);
        const int x = back ? pinned[r.below(static_cast<int>(pinned.size()))]
                           : pick(role, [&](int i) { return words(i) && s.symbols[i].kind != dv::ir::symbol_kind::lane_index; });
        if (x < 0) return false;
        statement n = communication(back ? dv::op_kind::from_host : dv::op_kind::to_host, 1);
        n.role = role;
        n.arguments = {x};
        n.results = {symbol(dv::ir::symbol_kind::value, s.symbols[x].type, role)};
        s.symbols.back().in_host_memory = !back;
        place(std::move(n));
        return true;
    }

    void lay_out() {
        const int roles = r.chance(30) ? 1 : r.between(1, k.roles);
        s.axes = r.below(k.axes + 1);
        const auto mesh = [&](int limit) {
            std::vector<dv::ir::mesh_axis> m;
            int lanes = 1;
            for (int a = 0; a < s.axes; ++a) {
                int width = r.between(1, k.width);
                while (lanes * width > limit) --width;
                lanes *= width;
                m.push_back({a, width});
            }
            return m;
        };
        const int each = k.ranks / roles > 0 ? k.ranks / roles : 1;
        const auto shared = mesh(each);
        const bool mixed = roles > 1 && r.chance(15);
        for (int i = 0; i < roles; ++i) s.roles.push_back(mixed && i > 0 && r.chance(40) ? mesh(each) : shared);
        s.folded = k.folding && roles > 1 && !mixed && r.chance(8);
        for (int i = r.between(1, 3); i > 0; --i) {
            const bool everywhere = roles > 1 && r.chance(40);
            const int extent = extent_index();  // drawn first on every compiler
            const int x = symbol(dv::ir::symbol_kind::input, vector_of(extents[extent]), everywhere ? -1 : r.below(roles));
            if (!everywhere && r.chance(15)) s.symbols[x].in_host_memory = true;
        }
        if (k.states && r.chance(70))
            for (int i = r.between(1, 3); i > 0; --i) {
                const int extent = extent_index();
                symbol(dv::ir::symbol_kind::state, vector_of(extents[extent]), r.below(roles));
            }
        for (int a = 0; a < s.axes; ++a)
            if (r.chance(25)) {
                const int x = symbol(dv::ir::symbol_kind::lane_index, {dv::element::int32, 0, {}}, -1);
                s.symbols[x].index_axis = 1u << a;
            }
    }

    // Values that are read once, by a statement of the same role, may be written inside it.
    void nest() {
        for (std::size_t i = 0; i < s.nodes.size(); ++i) {
            statement& n = s.nodes[i];
            if (n.update || n.bundle >= 0 || n.results.size() != 1 || n.results[0] < 0 || n.role < 0) continue;
            const int x = n.results[0];
            if (reads[x] != 1 || s.symbols[x].output || !r.chance(35)) continue;
            bool deep = false;
            for (int a : n.arguments) deep = deep || (producer[a] >= 0 && s.nodes[producer[a]].nested);
            if (deep) continue;
            for (std::size_t j = i + 1; j < s.nodes.size(); ++j) {
                statement& m = s.nodes[j];
                if (std::find(m.arguments.begin(), m.arguments.end(), x) == m.arguments.end()) continue;
                if (m.role != n.role || m.bundle >= 0 || m.nested) break;
                n.nested = true;
                break;
            }
        }
    }

    // Written order: any, but statements on states keep theirs, and nested expressions and bundles stay together.
    void write() {
        std::vector<std::vector<int>> units;
        std::vector<int> held;
        std::vector<char> done(s.nodes.size(), 0);
        for (int i = 0; i < static_cast<int>(s.nodes.size()); ++i) {
            if (s.nodes[i].nested || done[i]) continue;
            std::vector<int> unit;
            if (s.nodes[i].bundle >= 0) {
                for (int j = i; j < static_cast<int>(s.nodes.size()); ++j)
                    if (s.nodes[j].bundle == s.nodes[i].bundle) unit.push_back(j), done[j] = 1;
            } else {
                for (int a : s.nodes[i].arguments)
                    if (producer[a] >= 0 && s.nodes[producer[a]].nested) unit.push_back(producer[a]);
                unit.push_back(i);
            }
            units.push_back(unit);
        }
        const auto stateful = [&](const std::vector<int>& unit) {
            for (int i : unit) {
                for (int a : s.nodes[i].arguments)
                    if (s.symbols[a].kind == dv::ir::symbol_kind::state) return true;
                if (s.nodes[i].update) return true;
            }
            return false;
        };
        if (r.chance(60)) {
            std::vector<std::vector<int>> fixed, order = units;
            for (const auto& u : units)
                if (stateful(u)) fixed.push_back(u);
            for (int i = static_cast<int>(order.size()) - 1; i > 0; --i) std::swap(order[i], order[r.below(i + 1)]);
            std::size_t next = 0;
            for (auto& u : order)
                if (stateful(u)) u = fixed[next++];
            units = order;
        }
        std::vector<statement> written;
        for (const auto& u : units)
            for (int i : u) written.push_back(s.nodes[i]);
        s.nodes = std::move(written);
    }

    // Computed values that nobody reads become outputs; a state whose first statement overwrites it needs no initialiser.
    void finish() {
        for (std::size_t i = 0; i < s.symbols.size(); ++i) {
            if (s.symbols[i].kind != dv::ir::symbol_kind::value || locked[i]) continue;
            const bool free = producer[i] >= 0 && s.nodes[producer[i]].op->has_effect && r.chance(50);
            s.symbols[i].output = reads[i] == 0 ? !free : r.chance(12);
        }
    }
    void initialise() {
        for (std::size_t i = 0; i < s.symbols.size(); ++i) {
            if (s.symbols[i].kind != dv::ir::symbol_kind::state || !r.chance(50)) continue;
            for (const statement& n : s.nodes) {
                const int x = static_cast<int>(i);
                const bool read = std::find(n.arguments.begin(), n.arguments.end(), x) != n.arguments.end();
                const bool written = std::find(n.results.begin(), n.results.end(), x) != n.results.end();
                if (!read && !written) continue;
                s.symbols[i].initialised = read;
                break;
            }
        }
    }

    // Links so slow that, of the values that occur, some are cheaper by peer copy and some by NCCL.
    void channels() {
        s.settings.channels = static_cast<dv::transport>(r.below(3));
        s.settings.machine.link_bandwidth = s.settings.machine.peer_bandwidth = 8'000'000;
    }

    sketch draw() {
        lay_out();
        const int roles = static_cast<int>(s.roles.size());
        const int nodes = r.between(k.nodes_low, r.chance(80) ? (k.nodes_low + k.nodes_high) / 2 : k.nodes_high);
        for (int i = 0; i < roles; ++i) compute(i);
        while (static_cast<int>(s.nodes.size()) < nodes) {
            const int role = r.below(roles);
            const int what = r.below(100);
            if (what < 18 && k.collectives) collective_over_lanes(role, -1, static_cast<int>(s.symbols.size()));
            else if (what < 24 && k.collectives && k.bundles) {
                const int below = static_cast<int>(s.symbols.size());
                const bool over = roles > 1 && r.chance(40);
                for (int i = r.between(2, 3); i > 0; --i) {
                    const statement last = s.nodes.back();
                    if (over) collective_over_roles(bundles, below, last.bundle == bundles ? &last : nullptr);
                    else collective_over_lanes(role, bundles, below);
                }
                ++bundles;
            } else if (what < 34 && k.collectives && roles > 1) collective_over_roles(-1, static_cast<int>(s.symbols.size()), nullptr);
            else if (what < 42) host_copy(role);
            else if (what < 58 && k.states) update(role);
            else compute(role);
        }
        finish();
        nest();
        write();
        initialise();
        s.settings.overlap = !r.chance(20);
        s.settings.in_flight = r.between(1, 3);
        s.settings.channel_slots = r.between(1, 2);
        s.tight = r.chance(15);
        s.runs = r.between(1, k.runs);
        channels();
        return std::move(s);
    }
};

}  // namespace detail

inline sketch random_graph(word seed, const knobs& k = {}) {
    detail::drawing d{k, {mix(seed)}, {}, {}, {}, {}, 0, {}};
    d.s.seed = seed;
    return d.draw();
}

}  // namespace support
