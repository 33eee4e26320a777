// The compute statements of a random graph: operations with their facts, on any readable value, and updates of states.
#pragma once

#include "random_layout.hpp"

namespace support::detail {

class computing : protected layout {
public:
    using layout::layout;

protected:
    int place(statement n) {
        for (const int a : n.arguments) ++reads[static_cast<std::size_t>(a)];
        for (const int x : n.results)
            if (x >= 0 && !n.update) producer[static_cast<std::size_t>(x)] = static_cast<int>(s.nodes.size());
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
        op->workspace = r.chance(75) ? nullptr : arguments > 0 && r.chance(40) ? workspace_like : workspace_rules[1 + r.below(4)];
        op->has_work = op->work != nullptr;
        op->has_workspace = op->workspace != nullptr;
        op->has_effect = k.effects && r.chance(6);
        return op;
    }
    unsigned varies(const std::vector<int>& arguments) const {
        unsigned mask = 0;
        for (const int a : arguments) mask |= at(a).varies;
        return mask;
    }

    // Into how many blocks of rows x is cut where one of them is read in its place; 1: it is read whole.
    int blocks_of(int x) {
        if (!k.views || !r.chance(35)) return 1;
        std::vector<int> list;
        for (int n = 1; n <= most_blocks; ++n)
            if (is_blocked(at(x).type, n)) list.push_back(n);
        return list.empty() ? 1 : r.one_of(list);
    }
    // Some block of so many, as a statement that stands inside the one that reads it; x itself where there is one.
    int rows_of(int x, int blocks, int role) {
        if (blocks == 1) return x;
        statement n;
        n.role = role;
        n.op = rows_operation(r.below(blocks), blocks);
        n.nested = true;
        n.arguments = {x};
        n.types = {at(x).type};
        n.types[0].extent[0] /= blocks;
        const int y = add(dv::ir::symbol_kind::value, n.types[0], at(x).role);
        const symbol from = at(x);
        at(y).in_host_memory = from.in_host_memory;
        at(y).magnitude = from.magnitude;
        at(y).nonzero = from.nonzero;
        at(y).varies = from.varies;
        locked[static_cast<std::size_t>(y)] = 1;
        n.results = {y};
        place(std::move(n));
        return y;
    }
    // A value made of two or three others, of which some are made for it.
    void concat(int role) {
        const int like = tensor_type_count - blocked_type_count + r.below(k.types ? blocked_type_count : 2);
        std::vector<int> fits;
        for (int i = 0; i < symbols(); ++i) {
            const int p = producer[static_cast<std::size_t>(i)];
            if (p < 0 || at(i).role != role || !readable(i, role) || in_concat[static_cast<std::size_t>(i)] || !is_blocked(at(i).type, 1))
                continue;
            const statement& made_by = s.nodes[static_cast<std::size_t>(p)];
            dv::tensor_type type = at(i).type;
            type.extent[0] = tensor_types[like].extent[0];
            if (made_by.role == role && !made_by.op->in_place_only && made_by.op->view != dv::view_kind::rows && type == tensor_types[like])
                fits.push_back(i);
        }
        r.shuffle(fits);
        statement n;
        n.role = role;
        for (int i = r.between(2, 3); i > 0; --i) {
            if (fits.empty() || r.chance(30)) fits.push_back(made(role, like));
            n.arguments.push_back(fits.back());
            fits.pop_back();
        }
        n.op = concat_operation(static_cast<int>(n.arguments.size()));
        n.types = {tensor_types[like]};
        n.types[0].extent[0] = 0;
        symbol y;
        for (const int x : n.arguments) {
            in_concat[static_cast<std::size_t>(x)] = 1;
            n.types[0].extent[0] += at(x).type.extent[0];
            y.magnitude = std::max(y.magnitude, at(x).magnitude);
            y.nonzero = y.nonzero && at(x).nonzero;
        }
        n.results = {add(dv::ir::symbol_kind::value, n.types[0], role)};
        at(n.results[0]).magnitude = y.magnitude;
        at(n.results[0]).nonzero = y.nonzero;
        at(n.results[0]).varies = varies(n.arguments);
        place(std::move(n));
    }
    // Of a value made of parts: whether nobody reads those by themselves.
    bool parts_unread(int x) const {
        const int p = producer[static_cast<std::size_t>(x)];
        if (p < 0 || s.nodes[static_cast<std::size_t>(p)].op->view != dv::view_kind::concat) return true;
        for (const int a : s.nodes[static_cast<std::size_t>(p)].arguments)
            if (reads[static_cast<std::size_t>(a)] > 1 || !parts_unread(a)) return false;
        return true;
    }
    void lock_parts(int x) {
        const int p = producer[static_cast<std::size_t>(x)];
        if (p < 0 || s.nodes[static_cast<std::size_t>(p)].op->view != dv::view_kind::concat) return;
        for (const int a : s.nodes[static_cast<std::size_t>(p)].arguments) {
            locked[static_cast<std::size_t>(a)] = 1;
            lock_parts(a);
        }
    }
    // The one result, of the table's type, of an operation made for it.
    int made(int role, int type) {
        statement n;
        n.role = role;
        arguments(n, r.between(0, 2));
        dv::operation* op = compute_operation(static_cast<int>(n.arguments.size()));
        n.op = op;
        sized_results(n, *op, type, 1);
        const int y = add(dv::ir::symbol_kind::value, n.types[0], role);
        at(y).varies = varies(n.arguments);
        n.results = {y};
        place(std::move(n));
        return y;
    }

    void compute(int role) {
        statement n;
        n.role = role;
        const int wanted = r.chance(8) ? 0 : r.chance(12) ? r.between(4, most_arguments) : r.between(1, 3);
        if (wanted > 0 && r.chance(12)) {
            const int x = pick(role, [&](int i) {
                return at(i).kind == dv::ir::symbol_kind::value && at(i).role == role && reads[static_cast<std::size_t>(i)] == 0 &&
                       parts_unread(i);
            });
            if (x >= 0) lock_parts(x);
            if (x >= 0) return in_place_only(std::move(n), x, wanted);
        }
        arguments(n, wanted);
        if (r.chance(10) && again(n)) return;
        dv::operation* op = compute_operation(static_cast<int>(n.arguments.size()));
        n.op = op;
        shape(n, *op);
        // It may write its first result over any argument: some fit, some do not.
        if (!n.arguments.empty() && r.chance(50)) op->in_place = in_place_argument(n);
        results(n, *op, false);
        place(std::move(n));
    }
    void arguments(statement& n, int wanted) {
        while (static_cast<int>(n.arguments.size()) < wanted) {
            const int x = pick(n.role, [&](int i) { return locked[static_cast<std::size_t>(i)] == 0; });
            if (x < 0) break;
            n.arguments.push_back(rows_of(x, blocks_of(x), n.role));
        }
    }
    void shape(statement& n, dv::operation& op) {
        const int given = static_cast<int>(n.arguments.size());
        if (given > 0 && r.chance(45)) {
            const int first = r.chance(60) ? 0 : r.below(given);
            const int count = r.between(1, std::min(dv::max_results, given - first));
            op.infer = like_rule(count, first);
            for (int j = 0; j < count; ++j) n.types.push_back(at(n.arguments[static_cast<std::size_t>(first + j)]).type);
        } else {
            const int count = r.chance(75) ? 1 : r.between(1, r.chance(10) ? dv::max_results : 4);
            sized_results(n, op, type_index(), count);
        }
    }
    void sized_results(statement& n, dv::operation& op, int type, int count) {
        if (!k.types && count > 1) count = 1;
        op.infer = sized_rule(type, count);
        for (int j = 0; j < count; ++j) n.types.push_back(tensor_types[sized_type(type, j)]);
    }
    int in_place_argument(const statement& n) {
        std::vector<int> fits;
        for (std::size_t i = 0; i < n.arguments.size(); ++i)
            if (at(n.arguments[i]).type.bytes() == n.types[0].bytes()) fits.push_back(static_cast<int>(i));
        return fits.empty() || r.chance(15) ? r.below(static_cast<int>(n.arguments.size())) : r.one_of(fits);
    }
    // An operation in place on x, which has no other reader; the result may have another type with as many bytes.
    void in_place_only(statement n, int x, int wanted) {
        const int where = r.chance(60) ? 0 : r.below(wanted);
        locked[static_cast<std::size_t>(x)] = 1;
        arguments(n, where);
        const int behind = wanted - 1 - static_cast<int>(n.arguments.size());
        const int slot = static_cast<int>(n.arguments.size());
        n.arguments.push_back(x);
        arguments(n, slot + 1 + behind);
        dv::operation* op = compute_operation(static_cast<int>(n.arguments.size()));
        n.op = op;
        op->in_place = slot;
        op->in_place_only = true;
        if (slot == 0 && r.chance(30)) op->in_place = -1;  // the first is meant
        std::vector<int> alike;
        for (int t = 0; t < tensor_type_count; ++t)
            if (tensor_types[t].bytes() == at(x).type.bytes()) alike.push_back(t);
        if (k.types && !alike.empty() && r.chance(50)) {
            const int count = r.chance(70) ? 1 : 2;  // drawn first on every compiler
            sized_results(n, *op, r.one_of(alike), count);
        } else {
            op->infer = like_rule(1, slot);
            n.types = {at(x).type};
        }
        results(n, *op, r.chance(15));
        place(std::move(n));
    }
    // Names for the results, or not: at least one, or an effect.
    void results(statement& n, dv::operation& op, bool drop_first) {
        const unsigned mask = varies(n.arguments);
        const bool none = k.effects && r.chance(4);
        if (none) op.has_effect = true;
        int kept = 0;
        for (std::size_t j = 0; j < n.types.size(); ++j) {
            const bool last = j + 1 == n.types.size();
            const bool drop = none || (j == 0 && drop_first && !last) || ((!last || kept > 0) && r.chance(25));
            if (drop) {
                n.results.push_back(-1);
                continue;
            }
            const int y = add(dv::ir::symbol_kind::value, n.types[j], n.role);
            at(y).varies = mask;
            n.results.push_back(y);
            ++kept;
        }
    }
    // An operation that is there already, on these arguments: of other types than before, it may be.
    bool again(statement& n) {
        std::vector<const statement*> known;
        for (const statement& m : s.nodes)
            if (m.kind == dv::op_kind::compute && !m.update && !m.op->in_place_only && m.arguments.size() == n.arguments.size() &&
                m.op->infer == like_rule(1) && m.results[0] >= 0)
                known.push_back(&m);
        if (known.empty()) return false;
        n.op = r.one_of(known)->op;
        n.types = {at(n.arguments[0]).type};
        const int y = add(dv::ir::symbol_kind::value, n.types[0], n.role);
        at(y).varies = varies(n.arguments);
        n.results = {y};
        place(std::move(n));
        return true;
    }

    // An update by an operation: of one state, wholly overwritten or in place, or of several in place.
    void update_by_operation(int role, int first, const std::vector<int>& states) {
        statement n;
        n.role = role;
        n.update = true;
        n.results = {first};
        const bool in_place = r.chance(60);
        if (in_place && states.size() > 1 && r.chance(40))
            if (const int second = r.one_of(states); second != first) n.results.push_back(second);
        const auto allowed = [&](int i) { return !contains(n.results, i) && (at(i).varies & replicated_of(n.results)) == 0; };
        const int before = in_place && r.chance(30) ? r.between(1, 2) : 0;  // arguments in front of the states
        for (int i = 0; i < before; ++i)
            if (const int x = pick(role, allowed); x >= 0) n.arguments.push_back(x);
        const int slot = static_cast<int>(n.arguments.size());
        unsigned all = 0;
        for (const int x : n.results) all |= at(x).varies;
        if (in_place && (all & replicated_of(n.results)) != 0)
            return compute(role);  // one is a replica along an axis along which the other is none
        if (in_place) n.arguments.insert(n.arguments.end(), n.results.begin(), n.results.end());
        for (int extra = r.between(in_place ? 0 : 1, 2); extra > 0; --extra)
            if (const int x = pick(role, allowed); x >= 0) n.arguments.push_back(rows_of(x, blocks_of(x), role));
        dv::operation* op = compute_operation(static_cast<int>(n.arguments.size()));
        n.op = op;
        for (const int x : n.results) n.types.push_back(at(x).type);
        if (in_place) {
            op->infer = like_rule(static_cast<int>(n.results.size()), slot);
            if (r.chance(50)) op->in_place = slot, op->in_place_only = r.chance(50);
            if (n.results.size() > 1 && r.chance(15)) n.results.back() = -1;  // read, and not changed
        } else {
            const int type = table_index(at(first).type);
            n.types.clear();
            sized_results(n, *op, type, r.chance(85) ? 1 : 2);
            if (n.types.size() > 1) n.results.push_back(-1);
        }
        place(std::move(n));
    }
    unsigned replicated_of(const std::vector<int>& states) const {
        unsigned mask = 0;
        for (const int x : states)
            if (x >= 0) mask |= at(x).replicated;
        return mask;
    }
    static int table_index(const dv::tensor_type& type) {
        int i = 0;
        while (tensor_types[i] != type) ++i;
        return i;
    }
};

}  // namespace support::detail
