// The error of a plan that the prover refuses: what is wrong, and where, as far as it is known. Each argument behind the flaw says by
// its own name what it is: in_stage<...>, in_role<...>, operation<...>, with<operation<...>>, buffer<...>, run<1>.
#pragma once

#include "base.hpp"

namespace dovetail::error {

// One type for each plan::flaw, of its name: compilers print enumerators as numbers.
namespace flaws {
struct none;
struct bad_table;
struct node_missing;
struct node_twice;
struct node_mismatch;
struct wrong_access;
struct wrong_storage;
struct written_twice;
struct partner_missing;
struct partner_mismatch;
struct wrong_communicator;
struct order_not_permutation;
struct edge_backward;
struct step_missing;
struct step_order;
struct stream_wrong;
struct wait_unknown_event;
struct wait_wrong_record;
struct event_recorded_twice;
struct race;
struct race_across_runs;
struct slot_shared_too_early;
struct overlap_of_live_bytes;
struct stale_read;
struct wrong_value;
struct slot_not_dedicated;
struct out_of_arena;
struct misaligned;
struct symmetric_offset;
struct alias_wrong;
struct too_few_slots;
}  // namespace flaws

// The stage of the pipeline whose table is wrong.
template <class Stage>
struct in_stage {};
// What a user wrote, `matmul` or `all_reduce<sum, dp>`, or one of the two below; and the value that it makes, where that has a name.
template <class Operation, class... Value>
struct operation {};
struct transfer {};      // a value crosses roles
struct input_copy {};    // an input comes to a role
struct no_statement {};  // an operation of the program that none of the graph is said to be
// The other operation of two that are at odds.
template <class Operation>
struct with {};
template <class Value>
struct buffer {};
struct workspace {};  // the buffer of no value
// Of the runs that are proven together, the one in which it shows.
template <int Number>
struct run {};

template <class Graph, class Flaw, class... Where>
struct unproven {
    static_assert(
        detail::never<Graph, Flaw, Where...>,
        "dovetail: the prover refuses the plan of this graph (first) because of a flaw (second); this is a defect of dovetail, please report it with the graph");
};

}  // namespace dovetail::error
