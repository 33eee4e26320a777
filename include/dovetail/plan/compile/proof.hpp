// The proof of a plan at compile time: the stage `prove` in several constant evaluations, so that each is far from compiler limits. The
// first checks what concerns all roles; each of the others checks a range of roles.
#pragma once

#include "decide.hpp"

namespace dovetail::plan::detail {

template <class Graph, class Program, class Plan>
constexpr verdict prove_in_common(const_table<Graph> g, const_table<Program> p, const_table<Plan> made, const plan_options& s) {
    return prove_tables(ir::view(g), ir::view(p), ir::view(made), s);
}
template <class Graph, class Program, class Plan>
constexpr verdict prove_roles(const_table<Graph> g, const_table<Program> p, const_table<Plan> made, int first, int last) {
    return prove_ordered_roles(ir::view(g), ir::view(p), ir::view(made), first, last);
}

// The evaluations for the tables of a key and candidate C.
template <class Key, candidate C, class Graph = final_stage<Key, stage::rewrite>, class Program = typename Key::for_program>
inline constexpr verdict proven_tables = prove_in_common(stage_table<key_of<Key, Graph>, Graph>, stage_table<Program, stage::expand>,
                                                         stage_table<Key, stage::emit<C>>, Key::options);
template <class Key, candidate C, int First, int Last, class Graph = final_stage<Key, stage::rewrite>,
          class Program = typename Key::for_program>
inline constexpr verdict proven_roles =
    prove_roles(stage_table<key_of<Key, Graph>, Graph>, stage_table<Program, stage::expand>, stage_table<Key, stage::emit<C>>, First, Last);

// The end of the range of roles of one evaluation, see proven_until.
template <class Program, class Plan>
constexpr int last_proven(const Program& p, const Plan& made, int first) {
    return proven_until(ir::view(p), ir::view(made), first);
}

template <class Key, candidate C, int First = 0>
constexpr verdict proven_from() {
    if constexpr (First == stage_table<typename Key::for_program, stage::expand>.roles) {
        return {};
    } else {
        constexpr int last = last_proven(stage_table<typename Key::for_program, stage::expand>, stage_table<Key, stage::emit<C>>, First);
        if constexpr (proven_roles<Key, C, First, last>)
            return proven_from<Key, C, last>();
        else
            return proven_roles<Key, C, First, last>;
    }
}
template <class Key, candidate C>
constexpr verdict proven() {
    if constexpr (proven_tables<Key, C>)
        return proven_from<Key, C>();
    else
        return proven_tables<Key, C>;
}
template <class Key, candidate C>
inline constexpr verdict proof = proven<Key, C>();

}  // namespace dovetail::plan::detail
