// Inspection of the values of a run: for NaN and infinity (dv::check_finite), and for an observer of values. Takes the steps of a rank,
// gives the accesses to inspect: before the step, states and concats that it reads; after it, buffers that it writes on this rank.
#pragma once

#include "../../ir/parts.hpp"
#include "../executable/buffer_addresses.hpp"

#include <bit>
#include <utility>
#include <vector>

namespace dovetail {

// Receives the values of the first runs of an executor, in host memory.
struct value_observer {
    // Called for every named value before the first run.
    virtual bool wants(const tag& name) = 0;
    // Values of runs 0 to runs() - 1 are wanted.
    virtual std::int64_t runs() const = 0;
    // A value that a step of the run has written, or a state or concat that it is about to read. `shown` is its name, and of a block of it
    // also which one: "h 2/4". May be called more than once for one value, the latest call last, and from any thread.
    virtual void value(const tag& name, const std::string& shown, const tensor_type& type, std::int64_t run, const void* data) = 0;

protected:
    ~value_observer() = default;
};

namespace launch {

struct inspected_access {
    int access = -1;
    int symbol = -1;
    bool checked = false;   // for NaN and infinity
    bool observed = false;  // by the observer of values
};
struct inspected_step {
    std::vector<inspected_access> before, behind;
};

// Whether the value is made of others, which several steps write.
inline bool is_concat(const ir::graph& g, int symbol) {
    const int node = g.symbols[symbol].node;
    return node >= 0 && g.nodes[node].op->view == view_kind::concat;
}

// What arrives for a local_reduce has a block that nobody writes, and of what that makes in place it writes one block.
inline bool writes_whole_buffers(const ir::member& m) {
    return (m.op == nullptr || !m.op->own_block_stays) && (m.kind != op_kind::local_reduce || !ir::has_own_block_in_place(m));
}

// By step of the rank's role, in issue order.
inline std::vector<inspected_step> inspected_steps(const ir::graph& g, const ir::program& p, span<const ir::step> steps,
                                                   const geometry& where, int rank, bool check, value_observer* observer) {
    std::vector<inspected_step> all;
    const ir::locations located{g};
    std::vector<char> shown(static_cast<std::size_t>(g.symbols.size()));  // concats that an earlier step reads
    for (const ir::step& s : steps) {
        inspected_step& step = all.emplace_back();
        for (const ir::participation& participation : p.participations.subspan(s.first_participation, s.participations)) {
            const bool whole = writes_whole_buffers(p.members[participation.member]);
            for (int i = participation.first_access; i < participation.first_access + participation.accesses; ++i) {
                const ir::access& a = p.accesses[i];
                const ir::buffer& b = p.buffers[a.buffer];
                if (b.symbol < 0 || b.bytes == 0 || where.is_off_root(b.symbol, rank)) continue;
                const int symbol = located.symbol_of(g, p, a);
                const tag* name = g.symbols[symbol].name;
                const inspected_access found{i, symbol, check && is_floating(b.type.type),
                                             observer != nullptr && named(name) && observer->wants(*name)};
                if (!found.checked && !found.observed) continue;
                if (reads(a.mode) && b.where == ir::storage::state)
                    step.before.push_back(found);
                else if (reads(a.mode) && found.observed && is_concat(g, symbol) &&
                         !std::exchange(shown[static_cast<std::size_t>(symbol)], 1))
                    step.before.push_back({i, symbol, false, true});  // the parts are checked when they are written
                if (writes(a.mode) && whole) step.behind.push_back(found);
            }
        }
    }
    return all;
}

// The first element that is not finite.
struct non_finite {
    std::int64_t element = -1;  // -1: there is none
    bool infinite = false;

    explicit operator bool() const { return element >= 0; }
};

// By the bits of the exponent and the fraction, since compilers take every number for finite under -ffast-math.
template <class T>
non_finite find_non_finite(const T* data, std::int64_t count) {
    constexpr std::uint64_t infinity = std::uint64_t{0x7ff} << 52, without_sign = ~std::uint64_t{0} >> 1;
    for (std::int64_t i = 0; i < count; ++i)
        if (const std::uint64_t bits = std::bit_cast<std::uint64_t>(double{data[i]}) & without_sign; bits >= infinity)
            return {i, bits == infinity};
    return {};
}
inline non_finite find_non_finite(const void* data, const tensor_type& type) {
    switch (type.type) {
        case element::float16: return find_non_finite(static_cast<const half*>(data), type.size());
        case element::bfloat16: return find_non_finite(static_cast<const bfloat16*>(data), type.size());
        case element::float32: return find_non_finite(static_cast<const float*>(data), type.size());
        case element::float64: return find_non_finite(static_cast<const double*>(data), type.size());
        default: return {};
    }
}

// What an inspected value is called; of a part of a state, also the byte at which it begins: "w at 4096".
inline std::string name_of(const ir::graph& g, const ir::program& p, const inspected_access& at) {
    const ir::access& a = p.accesses[at.access];
    const ir::buffer& held_in = p.buffers[a.buffer];
    const std::string name = value_name(g, at.symbol);
    return held_in.symbol == at.symbol && a.leaves < held_in.leaves ? name + " at " + std::to_string(ir::offset_of(p, a)) : name;
}

// "element 17 of its result `y` is NaN", "element 3 of the state `w` that it reads is infinite"
inline std::string describe(const non_finite& found, const ir::graph& g, const inspected_access& at, bool before) {
    const std::string name = value_name(g, at.symbol);
    const std::string value = before ? "the state `" + name + "` that it reads" : name.empty() ? "its result" : "its result `" + name + "`";
    return "element " + std::to_string(found.element) + " of " + value + (found.infinite ? " is infinite" : " is NaN");
}

// Inspects the values of a step in host memory; `at(access)` gives their address in this run. Throws if one is not finite.
template <class At>
void look(const inspected_step& step, bool before, const ir::graph& g, const ir::program& p, At at, std::int64_t run,
          value_observer* observer) {
    for (const inspected_access& a : before ? step.before : step.behind) {
        const ir::access& touched = p.accesses[a.access];
        const tensor_type type = ir::type_of(p, touched);
        const void* const data = at(touched);
        if (a.observed && run < observer->runs()) observer->value(*g.symbols[a.symbol].name, name_of(g, p, a), type, run, data);
        if (!a.checked) continue;
        if (const non_finite found = find_non_finite(data, type)) throw failure{describe(found, g, a, before)};
    }
}

}  // namespace launch

}  // namespace dovetail
