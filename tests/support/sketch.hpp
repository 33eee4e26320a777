// A graph as the generator draws it: names, statements in written order, roles and their meshes. It is easy to draw, to reduce and to
// evaluate (reference.hpp). written.hpp writes it in the language, from which the library plans it.
#pragma once

#include "hash_ops.hpp"

#include <dovetail/core/display.hpp>
#include <dovetail/cost/plan_options.hpp>
#include <dovetail/ir/graph.hpp>

#include <algorithm>
#include <string>

namespace support {

// Something that has a name, or the result of a nested expression.
struct symbol {
    dv::ir::symbol_kind kind = dv::ir::symbol_kind::value;
    dv::tensor_type type = {};
    int role = -1;                 // home; -1: an input of every role that uses it, or the result of a collective over roles
    const dv::tag* name = nullptr;
    bool output = false;
    bool in_host_memory = false;
    bool initialised = false;      // a state that has an initialiser or comes from the store
    bool from_store = false;
    unsigned replicated = 0;       // axes along which it is declared to be equal
    int index_axis = -1;           // of an axis index
    // What may be said of the values, so that no statement makes one that is not a number, and replicas stay equal.
    int magnitude = 1;             // floating-point elements are less than 2 to this power
    bool nonzero = true;           // ... and none is zero
    unsigned varies = 0;           // axes along which it may differ
};

struct statement {
    const dv::operation* op = nullptr;
    dv::op_kind kind = dv::op_kind::compute;
    int role = -1;                            // -1: over roles
    std::vector<int> arguments = {};
    std::vector<int> awaited = {};            // what it starts after, beside its arguments
    std::vector<int> results = {};            // -1: discarded
    std::vector<dv::tensor_type> types = {};  // of the results, discarded ones too
    std::vector<int> targets = {};            // over roles: who receives, in order
    bool update = false;
    dv::reduction reduce = dv::reduction::none;
    unsigned axes = 0;
    int root = -1;                            // index along the axes; over roles the role
    int offset = 0;
    bool zero_edge = false;                        // zeros at the edge
    std::vector<dv::position_pair> pairs = {};     // of a permute
    int nccl_group_id = -1;                          // statements of one NCCL group share this number
    bool nested = false;                      // inside the expression of the next statement that is not
};

struct sketch {
    std::shared_ptr<names> pool = std::make_shared<names>();
    std::vector<symbol> symbols = {};
    std::vector<statement> nodes = {};                     // in written order
    std::vector<std::vector<dv::ir::mesh_axis>> roles = {};  // with their widths, also where those are open
    int axes = 0;
    unsigned open_axes = 0;  // axes whose width is not written: the executor is told it, or finds it
    unsigned network_axes = 0;  // axes whose positions are nodes of a network
    bool single_rank = false;
    bool named_roles = true; // of a graph with one role
    dv::plan_options plan_options = {};
    int limit = 0;           // memory limit in thousandths of what the plan without one takes; 0: none
    int runs = 1;
    word seed = 0;
};

inline constexpr int most_axes = 4;
inline const dv::tag* axis_name(int axis) {
    static constexpr dv::tag tags[most_axes] = {dv::detail::make_tag("dp", 2), dv::detail::make_tag("tp", 2), dv::detail::make_tag("pp", 2),
                                                dv::detail::make_tag("ep", 2)};
    return &tags[axis];
}
inline bool has_roles(const sketch& s) { return s.roles.size() > 1 || s.named_roles; }

inline int width_of(const sketch& s, int role, unsigned axes) {
    int n = 1;
    for (const dv::ir::mesh_axis& m : s.roles[static_cast<std::size_t>(role)])
        if (axes >> m.axis & 1u) n *= m.width;
    return n;
}
inline int ranks_of(const sketch& s) {
    int n = 0;
    for (int r = 0; r < static_cast<int>(s.roles.size()); ++r) n += width_of(s, r, ~0u);
    return s.single_rank ? n / static_cast<int>(s.roles.size()) : n;
}
inline bool over_roles(const statement& n) { return n.role < 0; }
inline bool contains(const std::vector<int>& list, int x) { return std::find(list.begin(), list.end(), x) != list.end(); }

inline std::string print_settings(const sketch& s) {
    constexpr const char* channels[] = {"automatic", "nccl", "peer_copy"};
    return "runs " + std::to_string(s.runs) + ", in flight " + std::to_string(s.plan_options.in_flight) + ", channel slots " +
           std::to_string(s.plan_options.channel_slots) + ", channels " + channels[static_cast<int>(s.plan_options.channels)] +
           ", between roles " + name_of(s.plan_options.between_roles) +
           ", overlap " + std::to_string(s.plan_options.overlap) +
           (s.plan_options.machine.links ? ", links of pairs" : "") + (s.plan_options.roles_by_links ? ", roles by links" : "") +
           ", " + std::to_string(s.plan_options.host_inputs.count) + " inputs from the host" +
           (s.plan_options.objective == dv::objective_kind::interval ? ", interval" : "") +
           (dv::named(s.plan_options.finished) ? ", finish " + dv::display(*s.plan_options.finished) : std::string{}) +
           (s.limit > 0 ? ", memory limit " + std::to_string(s.limit) + " thousandths" : std::string{}) + "\n";
}

}  // namespace support
