// The start of a random graph: roles and their meshes, inputs, states and axis indices, and what a statement may read where.
#pragma once

#include "random_graph.hpp"

namespace support {

// What a collective does to the type of an argument on n members; invalid where that does not split.
inline dv::tensor_type collected(dv::op_kind kind, dv::tensor_type t, int n) {
    using enum dv::op_kind;
    const bool splits = kind == reduce_scatter || kind == scatter || kind == all_to_all || kind == own_rows;
    if (splits && (t.rank == 0 || t.extent[0] % n != 0)) return {};
    if (kind == reduce_scatter || kind == scatter || kind == own_rows) t.extent[0] /= n;
    if (kind == all_gather || kind == gather) {
        if (t.rank == 0) return t.with_extents(n);
        t.extent[0] *= n;
    }
    return t;
}

namespace detail {

class layout {
public:
    layout(const knobs& k, word seed) : k{k}, r{mix(seed)} { s.seed = seed; }

protected:

    knobs k;
    chooser r;
    sketch s;
    int idle = 0;  // roles without statements, which are the last ones
    std::vector<int> reads;
    std::vector<char> locked, rooted, in_concat;
    std::vector<int> producer;  // statement that computes a value

    int add(dv::ir::symbol_kind kind, dv::tensor_type type, int role) {
        symbol x;
        x.kind = kind;
        x.type = type;
        x.role = role;
        const int id = static_cast<int>(s.symbols.size());
        x.name = s.pool->tag(k.prefix + "vish"[static_cast<int>(kind)] + std::to_string(id));
        s.symbols.push_back(x);
        reads.push_back(0);
        locked.push_back(0);
        rooted.push_back(0);
        in_concat.push_back(0);
        producer.push_back(-1);
        return id;
    }
    const symbol& at(int id) const { return s.symbols[static_cast<std::size_t>(id)]; }
    symbol& at(int id) { return s.symbols[static_cast<std::size_t>(id)]; }
    int symbols() const { return static_cast<int>(s.symbols.size()); }
    int roles() const { return static_cast<int>(s.roles.size()) - idle; }  // those with statements
    const std::vector<dv::ir::mesh_axis>& mesh(int role) const { return s.roles[static_cast<std::size_t>(role)]; }
    // The number of a type in the table; vectors of words more often than others.
    int type_index() {
        if (k.views && r.chance(15)) return tensor_type_count - blocked_type_count + r.below(k.types ? blocked_type_count : 2);
        if (!k.types) return r.chance(75) ? r.below(5) : r.below(word_type_count - 1);
        return r.chance(45) ? r.below(word_type_count) : r.below(tensor_type_count);
    }
    bool same_mesh(int a, int b) const {
        const auto &x = mesh(a), &y = mesh(b);
        return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                          [](const auto& p, const auto& q) { return p.axis == q.axis && p.width == q.width; });
    }
    unsigned axes_of(int role) const {
        unsigned mask = 0;
        for (const auto& m : mesh(role)) mask |= 1u << m.axis;
        return mask;
    }
    bool readable(int id, int role) const {
        const symbol& x = at(id);
        if (locked[static_cast<std::size_t>(id)] || rooted[static_cast<std::size_t>(id)] || x.in_host_memory) return false;
        if (x.kind == dv::ir::symbol_kind::axis_index) return (axes_of(role) >> x.index_axis & 1u) != 0;
        if (x.kind == dv::ir::symbol_kind::state) return x.role == role;
        if (x.kind == dv::ir::symbol_kind::input && x.role < 0) return true;
        if (x.role < 0) {
            const statement& n = s.nodes[static_cast<std::size_t>(producer[static_cast<std::size_t>(id)])];
            if (contains(n.targets, role)) return true;
            const bool alike = n.kind == dv::op_kind::all_reduce || n.kind == dv::op_kind::all_gather || n.kind == dv::op_kind::broadcast;
            return alike && same_mesh(n.targets[0], role);
        }
        return x.role == role || same_mesh(x.role, role);
    }
    // Something that the role may read and `accept` takes, rather what nobody has read; -1: there is none.
    template <class Accept>
    int pick(int role, Accept accept) {
        std::vector<int> all, fresh;
        for (int i = 0; i < symbols(); ++i)
            if (readable(i, role) && accept(i)) {
                all.push_back(i);
                if (reads[static_cast<std::size_t>(i)] == 0) fresh.push_back(i);
            }
        if (all.empty()) return -1;
        return !fresh.empty() && r.chance(55) ? r.one_of(fresh) : r.one_of(all);
    }

    unsigned some_of(unsigned axes, int percent) {
        unsigned mask = 0;
        for (int a = 0; a < most_axes; ++a)
            if ((axes >> a & 1u) != 0 && r.chance(percent)) mask |= 1u << a;
        return mask;
    }

    void lay_out() {
        const int count = k.exactly > 0 ? role_count(k.exactly) : r.chance(30) ? k.least_roles : r.between(k.least_roles, k.roles);
        s.axes = r.between(k.least_axes, k.axes);
        const int each = k.exactly > 0 ? k.exactly / count : k.ranks / count > 0 ? k.ranks / count : 1;
        const auto shared = draw_mesh(each);
        const bool mixed = k.exactly == 0 && count > 1 && r.chance(15);
        for (int i = 0; i < count; ++i) {
            s.roles.push_back(mixed && i > 0 && r.chance(40) ? draw_mesh(each) : shared);
            if (mixed && !s.roles.back().empty() && r.chance(20)) s.roles.back().pop_back();
        }
        if (k.idle && count > 1 && r.chance(10)) idle = r.between(1, count - 1);
        s.named_roles = count > 1 || r.chance(20);
        s.single_rank = k.folding && k.exactly == 0 && count > 1 && !mixed && r.chance(8);
        if (k.open && r.chance(35)) open_some();
        inputs();
        if (k.states && r.chance(70))
            for (int i = r.between(1, 3); i > 0; --i) state();
        for (int a = 0; a < s.axes; ++a)
            if (r.chance(25)) {
                const int x = add(dv::ir::symbol_kind::axis_index, {dv::element::int32, 0, {}}, -1);
                at(x).index_axis = a;
                at(x).varies = 1u << a;
            }
    }

private:
    int role_count(int ranks) {
        std::vector<int> divisors;
        for (int d = 1; d <= ranks && d <= k.roles; ++d)
            if (ranks % d == 0) divisors.push_back(d);
        return r.one_of(divisors);
    }
    std::vector<dv::ir::mesh_axis> draw_mesh(int positions) {
        std::vector<dv::ir::mesh_axis> m;
        if (k.exactly > 0 && positions > 1 && s.axes == 0) s.axes = 1;
        int left = positions;
        for (int a = 0; a < s.axes; ++a) {
            int width = k.exactly > 0 && a + 1 == s.axes ? left : r.between(k.least_width, k.width);
            while (k.exactly > 0 ? left % width != 0 : width > left) --width;
            left /= width;
            m.push_back({a, width});
        }
        r.shuffle(m);
        return m;
    }
    // Widths that every role with the axis has alike may be left open.
    void open_some() {
        for (int a = 0; a < s.axes; ++a) {
            int width = 0;
            bool alike = true;
            for (const auto& mesh : s.roles)
                for (const auto& m : mesh)
                    if (m.axis == a) alike = alike && (width == 0 || width == m.width), width = m.width;
            if (alike && width > 0 && r.chance(60)) s.open_axes |= 1u << a;
        }
    }
    void inputs() {
        const unsigned all = (1u << s.axes) - 1;
        for (int i = r.between(1, 3); i > 0; --i) {
            const bool everywhere = roles() > 1 && r.chance(40);
            const int type = type_index();  // drawn first on every compiler
            const int role = everywhere || !has_roles(s) ? -1 : r.below(roles());
            const int x = add(dv::ir::symbol_kind::input, tensor_types[type], has_roles(s) ? role : 0);
            at(x).in_host_memory = r.chance(12);
            if (r.chance(25)) at(x).replicated = some_of(role < 0 ? all_axes() : axes_of(role), 60);
            at(x).varies = all & ~at(x).replicated;
        }
    }
    unsigned all_axes() const {
        unsigned mask = 0;
        for (int role = 0; role < roles(); ++role) mask |= axes_of(role);
        return mask;
    }
    void state() {
        const int type = type_index();
        const int role = r.below(roles());
        const int x = add(dv::ir::symbol_kind::state, tensor_types[type], role);
        if (k.beside != nullptr && r.chance(60)) share(x);
        at(x).initialised = true;
        at(x).from_store = r.chance(15);
        at(x).nonzero = false;
        if (r.chance(25)) at(x).replicated = some_of(axes_of(role), 60);
        at(x).varies = ((1u << s.axes) - 1) & ~at(x).replicated;
    }
    // One of the other graph's states, where it starts with something: the same name and tensor.
    void share(int x) {
        std::vector<const symbol*> list;
        for (const symbol& y : k.beside->symbols) {
            bool taken = y.kind != dv::ir::symbol_kind::state || !y.initialised || y.type.bytes() == 0;
            for (const symbol& own : s.symbols) taken = taken || dv::same(own.name, y.name);
            if (!taken) list.push_back(&y);
        }
        if (list.empty()) return;
        const symbol& y = *r.one_of(list);
        at(x).name = s.pool->tag(std::string(y.name->spelling.first, static_cast<std::size_t>(y.name->spelling.size)));
        if (!r.chance(20)) at(x).type = y.type;  // else another state of that name
    }
};

}  // namespace detail

}  // namespace support
