// The meaning of a sketch, evaluated from the language as examples/reference.md has it: by names, without the library's interpretation. A
// value is the result of its statement, wherever that is written; a state has the value of the nearest update written above; the ranks of
// a role differ by their coordinates, the last axis fastest; values that cross roles connect equal coordinates. It uses nothing of lower,
// infer or expand, and shares no code with the simulator's collectives.
#pragma once

#include "meaning.hpp"
#include "reference_communication.hpp"

namespace support {

class reference {
public:
    explicit reference(const sketch& s) : s_{s} {
        for (const auto& mesh : s.roles) {
            first_place_.push_back(places_);
            int positions = 1;
            for (const auto& m : mesh) positions *= m.width;
            positions_.push_back(positions);
            places_ += positions;
        }
        find_sources();
        const auto room = [this](const dv::tensor_type& type) {
            const std::int64_t at = block_;
            block_ += words_of(type.bytes());
            return at;
        };
        for (const symbol& x : s.symbols) symbol_at_.push_back(x.kind == dv::ir::symbol_kind::value ? -1 : room(x.type));
        for (const statement& n : s.nodes) {
            result_at_.emplace_back();
            for (std::size_t j = 0; j < n.results.size(); ++j) {
                result_at_.back().push_back(room(n.types[j]));
                if (n.results[j] >= 0 && !n.update) symbol_at_[at(n.results[j])] = result_at_.back().back();
            }
        }
        states_.assign(static_cast<std::size_t>(block_ * places_), 0);
        for (int x = 0; x < symbols(); ++x)
            if (s.symbols[at(x)].kind == dv::ir::symbol_kind::state && s.symbols[at(x)].initialised)
                for (int position = 0; position < positions(s.symbols[at(x)].role); ++position)
                    fill_values(state(x, position), initial_seed(x, position));
        initial_ = states_;
    }

    int runs() const { return static_cast<int>(values_.size()); }
    int positions(int role) const { return positions_[at(role)]; }
    int coordinate(int role, int position, int axis) const {
        const auto& mesh = s_.roles[at(role)];
        for (std::size_t i = mesh.size(); i-- > 0; position /= mesh[i].width)
            if (mesh[i].axis == axis) return position % mesh[i].width;
        return 0;
    }
    // The place along the axes, last axis fastest.
    int index(int role, int position, unsigned axes) const {
        int i = 0;
        for (const auto& m : s_.roles[at(role)])
            if (axes >> m.axis & 1u) i = i * m.width + coordinate(role, position, m.axis);
        return i;
    }
    // Of this rank; equal along the axes along which it is declared to be.
    word input_seed(int run, int x, int role, int position) const {
        const symbol& input = s_.symbols[at(x)];
        word h = mix(mix(mix(s_.seed + 11) + static_cast<word>(run)) + static_cast<word>(x));
        if (!(s_.single_rank && input.role < 0)) h = mix(h + static_cast<word>(role));
        return along_other_axes(h, role, position, input.replicated);
    }
    word initial_seed(int x, int position) const {
        const symbol& state = s_.symbols[at(x)];
        return along_other_axes(mix(s_.seed + 13) ^ state.name->hash, state.role, position, state.replicated);
    }

    piece state(int x, int position) { return in(states_, s_.symbols[at(x)].role, position, symbol_at_[at(x)], s_.symbols[at(x)].type); }
    // An input or an axis index as a role has it, or a value on a role that it lives on.
    piece value(int run, int x, int role, int position) {
        return in(values_[at(run)], role, position, symbol_at_[at(x)], s_.symbols[at(x)].type);
    }
    piece result(int run, int i, int j, int role, int position) {
        return in(values_[at(run)], role, position, result_at_[at(i)][at(j)], s_.nodes[at(i)].types[at(j)]);
    }

    // Whether the caller may read it there: where it lives, of a rooted collective along axes on the root alone.
    bool has_output(int x, int role, int position) const {
        const symbol& y = s_.symbols[at(x)];
        if (!y.output || y.kind != dv::ir::symbol_kind::value || producer_[at(x)].statement < 0) return false;
        const statement& n = s_.nodes[at(producer_[at(x)].statement)];
        if (over_roles(n)) return contains(n.targets, role);
        if (role != n.role) return false;
        return (n.kind != dv::op_kind::reduce && n.kind != dv::op_kind::gather) || index(role, position, n.axes) == n.root;
    }

    // One run more, on the states as they are, which it leaves as the next finds them.
    void run() {
        const int run = runs();
        values_.emplace_back(static_cast<std::size_t>(block_ * places_), 0);
        effects_.emplace_back(static_cast<std::size_t>(places_) * s_.nodes.size(), 0);
        for (int role = 0; role < static_cast<int>(s_.roles.size()); ++role)
            for (int position = 0; position < positions(role); ++position)
                for (int x = 0; x < symbols(); ++x) {
                    const symbol& y = s_.symbols[at(x)];
                    if (y.kind == dv::ir::symbol_kind::input && (y.role < 0 || y.role == role))
                        fill_values(value(run, x, role, position), input_seed(run, x, role, position));
                    if (y.kind == dv::ir::symbol_kind::axis_index) {
                        const std::int32_t c = coordinate(role, position, y.index_axis);
                        std::memcpy(value(run, x, role, position).data, &c, sizeof c);
                    }
                }
        done_.assign(s_.nodes.size(), 0);
        for (int i = 0; i < static_cast<int>(s_.nodes.size()); ++i) evaluate(i);
        for (int i = 0; i < static_cast<int>(s_.nodes.size()); ++i) {  // later updates over earlier ones
            const statement& n = s_.nodes[at(i)];
            for (std::size_t j = 0; n.update && j < n.results.size(); ++j)
                for (int position = 0; n.results[j] >= 0 && position < positions(n.role); ++position)
                    copy(result(run, i, static_cast<int>(j), n.role, position), state(n.results[j], position));
        }
    }

    // By the ids of the graph that was written from the sketch; throws where that has other names, roles or operations.
    meaning as_read(const dv::ir::graph& g) const;

private:
    struct source {
        int statement = -1;  // -1: what is bound, or a state as the run finds it
        int result = 0;
    };
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    int symbols() const { return static_cast<int>(s_.symbols.size()); }
    piece in(std::vector<word>& memory, int role, int position, std::int64_t offset, const dv::tensor_type& type) const {
        return {reinterpret_cast<unsigned char*>(memory.data() + (first_place_[at(role)] + position) * block_ + offset), type.bytes(),
                type.type};
    }
    static void copy(piece from, piece to) { detail::put(to, 0, from, 0, from.bytes); }
    word along_other_axes(word h, int role, int position, unsigned but) const {
        for (const auto& m : s_.roles[at(role)])
            if ((but >> m.axis & 1u) == 0) h = mix(h + static_cast<word>(64 * m.axis + coordinate(role, position, m.axis)) + 1);
        return h;
    }

    // What each argument is: of a value its statement's result, of a state that of the nearest update written above.
    void find_sources() {
        producer_.resize(s_.symbols.size());
        for (int i = 0; i < static_cast<int>(s_.nodes.size()); ++i)
            for (std::size_t j = 0; j < s_.nodes[at(i)].results.size(); ++j)
                if (const int x = s_.nodes[at(i)].results[j]; x >= 0 && !s_.nodes[at(i)].update)
                    producer_[at(x)] = {i, static_cast<int>(j)};
        std::vector<source> nearest(s_.symbols.size());
        for (int i = 0; i < static_cast<int>(s_.nodes.size()); ++i) {
            const statement& n = s_.nodes[at(i)];
            sources_.emplace_back();
            for (const int x : n.arguments)
                sources_.back().push_back(s_.symbols[at(x)].kind == dv::ir::symbol_kind::state ? nearest[at(x)] : producer_[at(x)]);
            for (std::size_t j = 0; n.update && j < n.results.size(); ++j)
                if (n.results[j] >= 0) nearest[at(n.results[j])] = {i, static_cast<int>(j)};
        }
    }
    // The a-th argument of a statement as a role reads it.
    piece argument(int run, int i, int a, int role, int position) {
        const int x = s_.nodes[at(i)].arguments[at(a)];
        const source from = sources_[at(i)][at(a)];
        if (from.statement >= 0 && s_.nodes[at(from.statement)].op->view == dv::view_kind::rows) {  // the I-th of N equal blocks
            const dv::operation& rows = *s_.nodes[at(from.statement)].op;
            const piece all = argument(run, from.statement, 0, role, position);
            const std::int64_t each = all.bytes / rows.blocks;
            return {all.data + rows.block * each, each, all.type};
        }
        if (from.statement < 0)
            return s_.symbols[at(x)].kind == dv::ir::symbol_kind::state
                       ? state(x, position)
                       : value(run, x, s_.symbols[at(x)].role < 0 ? role : s_.symbols[at(x)].role, position);
        const statement& n = s_.nodes[at(from.statement)];
        const int home = !over_roles(n)              ? n.role
                         : contains(n.targets, role) ? role
                                                     : n.targets[0];  // who does not receive it has it from one that does
        return result(run, from.statement, from.result, home, position);
    }

    void evaluate(int i) {
        if (done_[at(i)]) return;
        done_[at(i)] = 1;
        for (const source& from : sources_[at(i)])
            if (from.statement >= 0) evaluate(from.statement);
        const statement& n = s_.nodes[at(i)];
        const int run = runs() - 1;
        if (n.op->view == dv::view_kind::rows) return;
        if (n.op->view == dv::view_kind::concat) return join_rows(run, i);
        if (over_roles(n)) return join_roles(run, i);
        if (n.kind != dv::op_kind::compute) return join_positions(run, i);
        std::vector<piece> in, out;
        for (int position = 0; position < positions(n.role); ++position) {
            in.clear();
            out.clear();
            for (int a = 0; a < static_cast<int>(n.arguments.size()); ++a) in.push_back(argument(run, i, a, n.role, position));
            for (int j = 0; j < static_cast<int>(n.results.size()); ++j) out.push_back(result(run, i, j, n.role, position));
            effects_[at(run)][at(first_place_[at(n.role)] + position) * s_.nodes.size() + at(i)] = apply(n.op, in, out);
        }
    }
    // One part behind the other.
    void join_rows(int run, int i) {
        const statement& n = s_.nodes[at(i)];
        for (int position = 0; position < positions(n.role); ++position) {
            std::int64_t behind = 0;
            for (int a = 0; a < static_cast<int>(n.arguments.size()); ++a) {
                const piece part = argument(run, i, a, n.role, position);
                detail::put(result(run, i, 0, n.role, position), behind, part, 0, part.bytes);
                behind += part.bytes;
            }
        }
    }
    // The positions that differ along the axes only, in the order of their places there.
    std::vector<int> group_of(int role, int position, unsigned axes) const {
        std::vector<int> members;
        for (int l = 0; l < positions(role); ++l) {
            bool same = true;
            for (const auto& m : s_.roles[at(role)])
                same = same && ((axes >> m.axis & 1u) != 0 || coordinate(role, l, m.axis) == coordinate(role, position, m.axis));
            if (same) members.push_back(l);
        }
        return members;
    }
    void join_positions(int run, int i) {
        const statement& n = s_.nodes[at(i)];
        std::vector<char> through(at(positions(n.role)), 0);
        for (int position = 0; position < positions(n.role); ++position) {
            if (through[at(position)]) continue;
            const std::vector<int> members = group_of(n.role, position, n.axes);
            std::vector<piece> in;
            for (const int m : members) in.push_back(argument(run, i, 0, n.role, m));
            for (std::size_t m = 0; m < members.size(); ++m) {
                through[at(members[m])] = 1;
                if ((n.kind == dv::op_kind::reduce || n.kind == dv::op_kind::gather) && static_cast<int>(m) != n.root) continue;
                detail::communicated(n, in, static_cast<int>(m), n.root, result(run, i, 0, n.role, members[m]));
            }
        }
    }
    // One argument a role; of a broadcast or scatter that of its root, for the receivers in order.
    void join_roles(int run, int i) {
        const statement& n = s_.nodes[at(i)];
        const bool given = n.kind == dv::op_kind::broadcast || n.kind == dv::op_kind::scatter;
        for (int position = 0; position < positions(n.targets[0]); ++position) {
            std::vector<piece> in;
            for (int a = 0; a < static_cast<int>(n.arguments.size()); ++a)
                in.push_back(argument(run, i, a, s_.symbols[at(n.arguments[at(a)])].role, position));
            for (std::size_t t = 0; t < n.targets.size(); ++t) {
                int member = static_cast<int>(t);
                if (!given)  // a receiver gives, too
                    for (int a = 0; a < static_cast<int>(n.arguments.size()); ++a)
                        if (s_.symbols[at(n.arguments[at(a)])].role == n.targets[t]) member = a;
                detail::communicated(n, in, member, 0, result(run, i, 0, n.targets[t], position));
            }
        }
    }

    const sketch& s_;
    int places_ = 0;
    std::vector<int> first_place_, positions_;
    std::int64_t block_ = 0;
    std::vector<std::int64_t> symbol_at_;
    std::vector<std::vector<std::int64_t>> result_at_;
    std::vector<source> producer_;
    std::vector<std::vector<source>> sources_;
    std::vector<char> done_;
    std::vector<std::vector<word>> values_, effects_;
    std::vector<word> initial_, states_;
};

}  // namespace support

#include "reference_by_graph.hpp"
