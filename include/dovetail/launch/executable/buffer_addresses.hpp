// One graph on one rank, in tables made once: which buffers lie where, what each step is called, which steps read inputs.
// Independent of the backend, which brings only the memory.
#pragma once

#include "../binding/binding.hpp"
#include "../store_core.hpp"
#include "executable_plan.hpp"
#include "geometry.hpp"

#include <string>

namespace dovetail {

// An operation as messages name it.
struct step_name {
    std::string operation;
    std::string statement;

    std::string text() const {
        return statement.empty() ? "operation `" + operation + "`" : "operation `" + operation + "` of `" + statement + "`";
    }
};

// The buffers of one role on one rank. An address depends on the run (slots) and, for inputs and outputs used in place, its
// bindings.
class buffer_addresses {
public:
    buffer_addresses(const ir::graph& g, const ir::program& p, const dovetail::plan::plan& plan, const geometry& where, int rank,
                     std::shared_ptr<memory> source, std::shared_ptr<detail::store_core> store)
        : source_{std::move(source)}, store_{std::move(store)} {
        const int role = where.role_of(rank);
        arena_ = block{source_, plan.roles[role].arena_bytes};
        host_arena_ = block{source_, plan.roles[role].host_arena_bytes, true};
        locations_.resize(static_cast<std::size_t>(p.buffers.size()));
        for (int i = 0; i < p.buffers.size(); ++i)
            if (const ir::buffer& b = p.buffers[i]; b.role == role && b.alias < 0) locate(g, plan, where, rank, b, i);
        for (int i = 0; i < p.buffers.size(); ++i)
            if (const ir::buffer& b = p.buffers[i]; b.role == role && b.alias >= 0) locations_[i] = locations_[b.alias];
        list_inputs(p, role);
        list_outputs(p, role);
        describe_states(g, where, rank);
    }

    struct input {
        int symbol = -1;
        int buffer = -1;
    };
    struct output {
        int symbol = -1;
        int buffer = -1;
    };
    struct state {
        int symbol = -1;
        int buffer = -1;
        detail::stored_state* stored = nullptr;
        bool updated = false;        // by the graph
        bool written_first = false;  // a run writes it before it reads it
    };
    const std::vector<input>& inputs() const { return inputs_; }
    const std::vector<output>& outputs() const { return outputs_; }
    const std::vector<state>& states() const { return states_; }
    // The bindings of a run: of each input, and then of each output.
    std::size_t bindings() const { return inputs_.size() + outputs_.size(); }
    std::size_t binding_of_output(int output) const { return inputs_.size() + static_cast<std::size_t>(output); }
    const std::shared_ptr<memory>& source() const { return source_; }
    const std::shared_ptr<detail::store_core>& store() const { return store_; }

    // Throws if a state that a run of the rank reads has no value.
    void check_states(int rank) const {
        if (states_.empty() || !store_->any_invalid()) return;
        for (const state& s : states_)
            if (const std::string why = store_->why_invalid(*s.stored, s.written_first); !why.empty())
                throw state_error{"rank " + std::to_string(rank) + ": state `" + display(*s.stored->name) + "` " + why};
    }
    // Marks the states that the graph updates as lost. Shards that rewrites made are not: runs write them before they read them.
    void lose_updated_states(const std::string& why) const {
        for (const state& s : states_)
            if (may_be_lost(s)) store_->lose(*s.stored, why);
    }
    bool updated_states_are_lost() const {
        return std::none_of(states_.begin(), states_.end(),
                            [&, this](const state& s) { return may_be_lost(s) && store_->lost(*s.stored).empty(); });
    }
    // Notes that a run was issued: what it writes first has a value from now on.
    void written_by_run() const {
        if (states_.empty() || !store_->any_invalid()) return;
        for (const state& s : states_)
            if (s.written_first) store_->initialised(*s.stored);
    }

    char* arena() const { return arena_.data(); }

    // Index of an input of this role, or -1.
    int input_of(int symbol) const { return index_of(symbol, inputs_); }
    // Index of an output of this role, or -1.
    int output_of(int symbol) const { return index_of(symbol, outputs_); }
    // The buffer of an output, by symbol; -1: there is none.
    int buffer_of_output(int symbol) const {
        const int output = output_of(symbol);
        return output < 0 ? -1 : outputs_[static_cast<std::size_t>(output)].buffer;
    }
    // Index of the binding that says where a buffer is, if there is one; -1: its address depends on the run alone.
    int binding_of(int buffer) const { return locations_[buffer].bound; }
    // Whether an output can be written elsewhere: not one in host memory.
    bool can_be_bound(int output) const { return locations_[outputs_[output].buffer].bound >= 0; }
    // Whether the operations of a run can read an input where the caller has it: not one that is declared `pinned`.
    bool usable_in_place(int input) const { return locations_[inputs_[input].buffer].bound == input; }
    void* at(int buffer, std::int64_t run, const std::vector<binding>& bound) const {
        const location& p = locations_[buffer];
        if (p.bound >= 0 && bound[p.bound].in_place()) return const_cast<void*>(bound[p.bound].data);
        return p.base + run % p.slots * p.stride;
    }
    // Memory that host bindings of an input are copied to; made when the first one is bound, never inside a run.
    void stage(int input) {
        location& p = locations_[inputs_[input].buffer];
        if (p.base != nullptr) return;
        staging_.push_back(block{source_, (p.stride > 0 ? p.stride : ir::alignment) * p.slots});
        for (location& q : locations_)
            if (q.bound == input) q.base = staging_.back().data();
    }

private:
    struct location {
        char* base = nullptr;
        std::int64_t stride = 0;
        int slots = 1;
        int bound = -1;  // index in the bindings of a run where memory of the caller may be used in its place
    };

    // A buffer that is no alias: in an arena of the plan, in the store, where the caller has it, or in memory of its own.
    void locate(const ir::graph& g, const dovetail::plan::plan& plan, const geometry& where, int rank, const ir::buffer& b, int index) {
        location& at = locations_[index];
        at.slots = b.slots < 1 ? 1 : b.slots;
        const ir::placement& placed = plan.placements[index];
        if (placed.offset >= 0) {
            at.base = (b.where == ir::storage::host ? host_arena_.data() : arena_.data()) + placed.offset;
            at.stride = placed.stride;
        } else if (b.where == ir::storage::state) {
            detail::stored_state& s = store_->at(g.symbols[b.symbol].name, b.type, g.symbols[b.symbol].shard);
            states_.push_back({b.symbol, index, &s, is_updated(g, b.symbol), !g.symbols[b.symbol].initialised});
            at.base = s.where.data();
        } else if (b.where == ir::storage::constant) {
            const std::int32_t position = where.coordinate(rank, g.symbols[b.symbol].index_axis);
            constants_.push_back(block{source_, static_cast<std::int64_t>(sizeof position)});
            at.base = constants_.back().data();
            source_->from_host(at.base, &position, sizeof position);
        } else if (b.where == ir::storage::input) {
            at.stride = ir::aligned(b.bytes);
        } else {  // not in the plan's arenas: a buffer of its own
            constants_.push_back(block{source_, ir::aligned(b.bytes) * at.slots, b.where == ir::storage::host});
            at.base = constants_.back().data();
            at.stride = ir::aligned(b.bytes);
        }
    }
    // Tells the store where the rank is along each axis of its role, and on which ranks its states are equal. Throws before that if other
    // graphs of the store say otherwise.
    void describe_states(const ir::graph& g, const geometry& where, int rank) {
        const auto said = [&](const state& s) { return equality_of(g, where, rank, s); };
        for (const state& s : states_) store_->check_equal(*s.stored, said(s));
        for (const state& s : states_) store_->add_equal(*s.stored, said(s));
        const int role = where.role_of(rank);
        for (const ir::mesh_axis& m : g.mesh.subspan(g.roles[role].first_axis, g.roles[role].axes))
            store_->add_position({g.axes[m.axis].name, where.coordinate(rank, 1u << m.axis), where.width(role, m.axis)});
    }
    // Runs write shards that rewrites made before they read them: of these a graph says nothing to others.
    static detail::equality equality_of(const ir::graph& g, const geometry& where, int rank, const state& s) {
        detail::equality said{where.ranks()};
        if (s.stored->shard) return said;
        const unsigned axes = g.symbols[s.symbol].replicated;
        for (int a = 0; a < g.axes.size(); ++a)
            if ((axes >> a & 1u) != 0) said.along.push_back(g.axes[a].name);
        said.ranks = where.ranks_along(rank, axes);
        if (s.updated) said.kept = said.ranks;
        return said;
    }
    static bool may_be_lost(const state& s) { return s.updated && !s.stored->shard; }
    // By an update, or by what a rewrite made of one.
    static bool is_updated(const ir::graph& g, int state) {
        for (const ir::node& n : g.nodes)
            for (const int result : g.operands.subspan(n.first_result, n.results))
                if (result == state) return true;
        return false;
    }
    // The inputs of this role, by the task that brings each one in.
    void list_inputs(const ir::program& p, int role) {
        for (const ir::task& v : p.tasks)
            if (v.kind == op_kind::input)
                for (const ir::participation& participation : p.participations.subspan(v.first_participation, v.participations))
                    if (participation.role == role) list_input(p, p.accesses[participation.first_access].buffer);
    }
    void list_input(const ir::program& p, int buffer) {
        const ir::buffer& b = p.buffers[buffer];
        if (input_of(b.symbol) >= 0) return;
        if (b.where == ir::storage::input) may_be_bound(p, buffer, inputs_.size());
        inputs_.push_back({b.symbol, buffer});
    }
    // The outputs of this role. Values that share their memory within a run lie where the output does.
    void list_outputs(const ir::program& p, int role) {
        for (int i = 0; i < p.buffers.size(); ++i) {
            if (!p.buffers[i].output || p.buffers[i].role != role) continue;
            if (const int owner = ir::owner_of(p, i); p.buffers[owner].where == ir::storage::arena) may_be_bound(p, owner, bindings());
            outputs_.push_back({p.buffers[i].symbol, i});
        }
    }
    void may_be_bound(const ir::program& p, int owner, std::size_t binding) {
        for (int i = 0; i < p.buffers.size(); ++i)
            if (ir::owner_of(p, i) == owner) locations_[i].bound = static_cast<int>(binding);
    }
    template <class List>
    static int index_of(int symbol, const List& list) {
        for (std::size_t i = 0; i < list.size(); ++i)
            if (list[i].symbol == symbol) return static_cast<int>(i);
        return -1;
    }

    std::shared_ptr<memory> source_;
    std::shared_ptr<detail::store_core> store_;
    block arena_, host_arena_;
    std::vector<block> constants_, staging_;
    std::vector<location> locations_;
    std::vector<input> inputs_;
    std::vector<output> outputs_;
    std::vector<state> states_;
};

// Which block of a statement in a split a node is, counted from one: " 2/4". Nothing for other nodes.
inline std::string block_name(const ir::node& n) {
    return n.blocks > 0 ? " " + std::to_string(n.block + 1) + "/" + std::to_string(n.blocks) : std::string{};
}

// What a value is called: its name, a block of it `h 2/4`, and rows of another value by theirs, `rows<0, 4>(x)`; of another nested
// expression nothing.
inline std::string value_name(const ir::graph& g, int symbol) {
    const ir::symbol& s = g.symbols[symbol];
    const ir::node* made_by = s.kind == ir::symbol_kind::value && s.node >= 0 ? &g.nodes[s.node] : nullptr;
    if (named(s.name)) return display(*s.name) + (made_by != nullptr ? block_name(*made_by) : "");
    if (made_by == nullptr || made_by->op->view != view_kind::rows) return {};
    const std::string name = value_name(g, g.operands[made_by->first_argument]);
    return "rows<" + std::to_string(made_by->part) + ", " + std::to_string(made_by->parts) + ">(" + (name.empty() ? "?" : name) + ")";
}

// What a step is called: its first member's operation and the statement it belongs to.
inline step_name name_of_step(const ir::graph& g, const ir::program& p, const ir::step& s) {
    const ir::member& m = p.members[p.participations[s.first_participation].member];
    step_name name;
    name.operation = m.kind == op_kind::compute && named(m.op->name) ? display(*m.op->name) : name_of(m.kind);
    const tag* statement = m.symbol >= 0 ? g.symbols[m.symbol].name : &nameless;
    if (!named(statement) && m.node >= 0)  // a nested expression: the name that its statement defines
        for (const ir::node& n : g.nodes)
            if (n.statement == g.nodes[m.node].statement)
                for (const int symbol : g.operands.subspan(n.first_result, n.results))
                    if (symbol >= 0 && named(g.symbols[symbol].name)) statement = g.symbols[symbol].name;
    if (named(statement) && m.node >= 0)
        name.statement = display(*statement) + block_name(g.nodes[m.node]);
    else if (m.symbol >= 0)
        name.statement = value_name(g, m.symbol);
    return name;
}

}  // namespace dovetail
