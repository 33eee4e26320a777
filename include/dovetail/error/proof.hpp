// The error of a plan that the prover refuses: the flaw, and its location as far as it is known. The template around each further
// argument tells what it is: in_stage<...>, in_role<...>, operation<...>, with<operation<...>>, buffer<...>, run<1>.
#pragma once

#include "base.hpp"

namespace dovetail::error {

// One type for each enumerator of plan::flaw, with the same name: a compiler may print an enumerator as a number.
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
// An operation as written in the graph, `matmul` or `all_reduce<sum, dp>`, or one of the three types below; and the name of its result, if
// it has one.
template <class Operation, class... Value>
struct operation {};
struct transfer {};      // moves a value from one role to another
struct input_copy {};    // copies an input to a role
struct no_statement {};  // an operation of the program for which the tables name no operation of the graph
// The second operation, where a flaw concerns two.
template <class Operation>
struct with {};
template <class Value>
struct buffer {};
struct workspace {};  // a buffer that holds no value of the graph
// The number of the run in which the flaw occurs, among the runs that the prover unrolls.
template <int Number>
struct run {};

template <class Graph, class Flaw, class... Where>
struct unproven {
    static_assert(detail::never<Graph, Flaw, Where...>,
                  "dovetail: the prover refuses the plan of this graph (first) because of a flaw (second); this is a defect of "
                  "dovetail, please report it with the graph");
};

}  // namespace dovetail::error
