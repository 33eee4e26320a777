#include "random_graph.hpp"

#include "random_communication.hpp"
#include "uneven_machines.hpp"

namespace support {

namespace detail {
namespace {

class drawing : communicating {
public:
    using communicating::communicating;

    sketch draw() {
        lay_out();
        const int nodes = r.between(k.nodes_low, r.chance(80) ? (k.nodes_low + k.nodes_high) / 2 : k.nodes_high);
        for (int i = 0; i < roles(); ++i) compute(i);
        while (static_cast<int>(s.nodes.size()) < nodes) {
            const int role = r.below(roles());
            if (k.repeats && r.chance(15) && repeat_collective()) continue;
            const int what = r.below(100);
            if (what < 26 && k.collectives) collective_over_mesh(role, -1, symbols());
            else if (what < 32 && k.collectives && k.nccl_groups) nccl_group_id(role);
            else if (what < 42 && k.collectives && roles() > 1) collective_over_roles(-1, symbols(), nullptr);
            else if (what < 48) host_copy(role);
            else if (what < 53 && k.views) concat(role);
            else if (what < 64 && k.states) update(role);
            else compute(role);
        }
        if (k.awaits) await();
        finish();
        nest();
        write();
        initialise();
        plan_options();
        return std::move(s);
    }

private:
    // Some statements start after values that are no arguments of theirs. What is drawn above a statement, and above its NCCL group, does
    // not depend on it.
    void await() {
        std::vector<int> begin;  // by NCCL group: its first statement
        for (int i = 0; i < static_cast<int>(s.nodes.size()); ++i) {
            const int group = s.nodes[static_cast<std::size_t>(i)].nccl_group_id;
            while (static_cast<int>(begin.size()) <= group) begin.push_back(-1);
            if (group >= 0 && begin[static_cast<std::size_t>(group)] < 0) begin[static_cast<std::size_t>(group)] = i;
            if (s.nodes[static_cast<std::size_t>(i)].op->view != dv::view_kind::none) continue;
            for (int times = r.chance(12) ? r.between(1, 2) : 0; times > 0; --times)
                await_one(s.nodes[static_cast<std::size_t>(i)], group < 0 ? i : begin[static_cast<std::size_t>(group)]);
        }
    }
    // Something that is made above statement `limit`.
    void await_one(statement& n, int limit) {
        const auto fits = [&](int x) {
            const int p = producer[static_cast<std::size_t>(x)];
            if (at(x).kind == dv::ir::symbol_kind::axis_index || contains(n.arguments, x) || contains(n.awaited, x)) return false;
            if (at(x).kind == dv::ir::symbol_kind::state) return n.nccl_group_id < 0 && n.role >= 0;
            return at(x).kind != dv::ir::symbol_kind::value ||
                   (p >= 0 && p < limit && s.nodes[static_cast<std::size_t>(p)].op->view != dv::view_kind::rows);
        };
        int x = -1;
        if (over_roles(n)) {
            std::vector<int> list;
            for (int i = 0; i < symbols(); ++i)
                if (fits(i) && !locked[static_cast<std::size_t>(i)] && at(i).role >= 0 && takes_part(n, at(i).role)) list.push_back(i);
            if (!list.empty()) x = r.one_of(list);
        } else {
            x = pick(n.role, fits);
        }
        if (x < 0) return;
        n.awaited.push_back(x);
        ++reads[static_cast<std::size_t>(x)];
    }
    bool takes_part(const statement& collective, int role) const {
        bool part = contains(collective.targets, role);
        for (const int a : collective.arguments) part = part || at(a).role == role;
        return part;
    }

    // Values that are read once, by a statement of the same role, may be written inside it, those inside them as well.
    void nest() {
        for (std::size_t i = 0; i < s.nodes.size(); ++i) {
            statement& n = s.nodes[i];
            if (n.op->view == dv::view_kind::rows) continue;  // it always is
            if (n.update || n.nccl_group_id >= 0 || n.results.size() != 1 || n.results[0] < 0 || over_roles(n) || uses(n.op) > 1) continue;
            if (!n.awaited.empty()) continue;
            const int x = n.results[0];
            if (reads[static_cast<std::size_t>(x)] != 1 || at(x).output || !r.chance(35)) continue;
            for (std::size_t j = i + 1; j < s.nodes.size(); ++j) {
                const statement& m = s.nodes[j];
                if (!contains(m.arguments, x)) continue;
                // Within a group it would see the states as the group leaves them.
                // What is written several times, because rows of it are, would see the states at several times.
                n.nested = m.role == n.role && !over_roles(reader_of(m)) && !((in_nccl_group(m) || rows_read_twice(m)) && reads_states(n));
                break;
            }
        }
    }
    // Of rows the statement that they stand in, of any other the statement itself.
    const statement& reader_of(const statement& n) const {
        if (n.op->view != dv::view_kind::rows) return n;
        for (const statement& m : s.nodes)
            if (contains(m.arguments, n.results[0])) return reader_of(m);
        return n;
    }
    bool rows_read_twice(const statement& n) const {
        if (n.op->view != dv::view_kind::rows) return false;
        int readers = 0;
        for (const statement& m : s.nodes)
            if (const auto uses = std::count(m.arguments.begin(), m.arguments.end(), n.results[0]); uses > 0)
                readers += static_cast<int>(uses) + rows_read_twice(m);
        return readers > 1;
    }
    bool reads_states(const statement& n) const {
        for (const int a : n.arguments) {
            const int p = producer[static_cast<std::size_t>(a)];
            if (at(a).kind == dv::ir::symbol_kind::state) return true;
            if (p >= 0 && s.nodes[static_cast<std::size_t>(p)].nested && reads_states(s.nodes[static_cast<std::size_t>(p)])) return true;
        }
        return false;
    }
    // Or perhaps inside the expression of one that is.
    bool in_nccl_group(const statement& n) const {
        if (n.nccl_group_id >= 0 || n.update || n.results.size() != 1) return n.nccl_group_id >= 0;
        for (const statement& m : s.nodes)
            if (contains(m.arguments, n.results[0]) && in_nccl_group(m)) return true;
        return false;
    }
    int uses(const dv::operation* op) const {
        int n = 0;
        for (const statement& m : s.nodes) n += m.op == op;
        return n;
    }
    void with_nested(int i, std::vector<int>& unit) const {
        for (const int a : s.nodes[static_cast<std::size_t>(i)].arguments)
            if (const int p = producer[static_cast<std::size_t>(a)];
                p >= 0 && s.nodes[static_cast<std::size_t>(p)].nested && !contains(unit, p))
                with_nested(p, unit);
        unit.push_back(i);
    }
    // Written order: any, but statements on states keep theirs, and nested expressions and nccl_groups stay together.
    void write() {
        std::vector<std::vector<int>> units;
        std::vector<char> done(s.nodes.size(), 0);
        for (int i = 0; i < static_cast<int>(s.nodes.size()); ++i) {
            if (s.nodes[static_cast<std::size_t>(i)].nested || done[static_cast<std::size_t>(i)]) continue;
            std::vector<int> unit;
            const int nccl_group_id = s.nodes[static_cast<std::size_t>(i)].nccl_group_id;
            for (int j = i; j < static_cast<int>(s.nodes.size()); ++j)
                if (j == i || (nccl_group_id >= 0 && s.nodes[static_cast<std::size_t>(j)].nccl_group_id == nccl_group_id))
                    with_nested(j, unit), done[static_cast<std::size_t>(j)] = 1;
            units.push_back(unit);
        }
        const auto stateful = [&](const std::vector<int>& unit) {
            for (const int i : unit) {
                if (s.nodes[static_cast<std::size_t>(i)].update) return true;
                for (const auto* list : {&s.nodes[static_cast<std::size_t>(i)].arguments, &s.nodes[static_cast<std::size_t>(i)].awaited})
                    for (const int a : *list)
                        if (at(a).kind == dv::ir::symbol_kind::state) return true;
            }
            return false;
        };
        if (r.chance(60)) {
            std::vector<std::vector<int>> fixed, order = units;
            for (const auto& u : units)
                if (stateful(u)) fixed.push_back(u);
            r.shuffle(order);
            std::size_t next = 0;
            for (auto& u : order)
                if (stateful(u)) u = fixed[next++];
            units = order;
        }
        std::vector<statement> written;
        for (const auto& u : units)
            for (const int i : u) written.push_back(s.nodes[static_cast<std::size_t>(i)]);
        s.nodes = std::move(written);
    }

    // Computed values that nobody reads become outputs, now and then others.
    void finish() {
        for (std::size_t i = 0; i < s.symbols.size(); ++i) {
            if (s.symbols[i].kind != dv::ir::symbol_kind::value || locked[i]) continue;
            const bool free = producer[i] >= 0 && s.nodes[static_cast<std::size_t>(producer[i])].op->has_effect && r.chance(50);
            s.symbols[i].output = reads[i] == 0 ? !free : !in_concat[i] && r.chance(12);
        }
    }
    // A state whose first statement overwrites it needs no initialiser.
    void initialise() {
        for (std::size_t i = 0; i < s.symbols.size(); ++i) {
            if (s.symbols[i].kind != dv::ir::symbol_kind::state || !r.chance(50)) continue;
            for (const statement& n : s.nodes) {
                const bool read = contains(n.arguments, static_cast<int>(i)) || contains(n.awaited, static_cast<int>(i));
                const bool written = contains(n.results, static_cast<int>(i));
                if (!read && !written) continue;
                s.symbols[i].initialised = read;
                s.symbols[i].from_store = s.symbols[i].from_store && read;
                break;
            }
        }
    }
    void finish_an_output() {
        std::vector<const dv::tag*> outputs;
        for (const symbol& x : s.symbols)
            if (x.output) outputs.push_back(x.name);
        if (outputs.empty()) return;
        s.plan_options.objective = dv::objective_kind::finish;
        s.plan_options.finished = r.one_of(outputs);
    }
    // Links so slow that, of the values that occur, some are cheaper by peer copy and some by NCCL.
    void plan_options() {
        s.plan_options.overlap = !r.chance(20);
        s.plan_options.in_flight = r.between(1, k.in_flight);
        s.plan_options.channel_slots = r.between(1, k.slots);
        s.plan_options.assumed_width = r.between(1, 8);
        s.plan_options.channels = static_cast<dv::transport>(r.below(3));
        s.plan_options.machine.link_bandwidth = s.plan_options.machine.peer_bandwidth = 8'000'000;
        if (k.limits && r.chance(30)) s.limit = r.chance(40) ? 999 : r.between(1, 1100);
        s.runs = r.between(1, r.chance(50) ? k.runs : std::max(k.runs, s.plan_options.in_flight + 2));
        if (s.plan_options.channels != dv::transport::peer_copy && r.chance(10)) s.plan_options.between_roles = dv::link::network;
        for (int a = 0; a < s.axes; ++a)
            if (r.chance(20)) s.network_axes |= 1u << a;
        for (const symbol& x : s.symbols)
            if (dv::input_list& list = s.plan_options.host_inputs;
                x.kind == dv::ir::symbol_kind::input && !x.in_host_memory && list.count < dv::most_host_inputs && r.chance(10))
                list.name[list.count++] = x.name;
        if (r.chance(10)) finish_an_output();
        else if (r.chance(5)) s.plan_options.objective = dv::objective_kind::interval;
        if (r.chance(20)) s.plan_options.machine.links = row_of_gpus::links.list;
        if (s.plan_options.machine.links && r.chance(60)) s.plan_options.roles_by_links = true;
    }
};

}  // namespace
}  // namespace detail

sketch random_graph(word seed, const knobs& k) { return detail::drawing{k, seed}.draw(); }

knobs random_knobs(word seed) {
    chooser r{mix(seed + 21)};
    knobs k;
    k.open = true;
    k.in_flight = r.chance(20) ? 8 : 3;
    k.slots = r.chance(20) ? 4 : 2;
    const int what = r.below(1000);
    if (what < 2) {
        k.nodes_low = 260, k.nodes_high = 460, k.runs = 3, k.in_flight = 2, k.ranks = 8;
    } else if (what < 30) {
        k.nodes_low = 30, k.nodes_high = 90;
    } else if (what < 100) {  // many roles, of a rank or two each
        k.roles = 32, k.least_roles = 8, k.ranks = 64, k.axes = 1, k.nodes_high = 50, k.runs = 3;
    } else if (what < 180) {  // many axes
        k.roles = 3, k.axes = 4, k.width = 8, k.ranks = r.chance(30) ? 128 : 48, k.nodes_high = 20, k.runs = 3, k.extent = 768;
        if (r.chance(10)) k.exactly = 128;
    }
    return k;
}

}  // namespace support
