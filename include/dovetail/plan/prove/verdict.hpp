// What the prover answers: `flaw`, the kind of the first thing wrong with a plan, and `verdict`, that kind with the rows
// it was seen at. A verdict is true where nothing is wrong.
#pragma once

namespace dovetail::plan {

enum class flaw : unsigned char {
    none,
    bad_table,           // an index that points outside its table, or rows that do not fit together
    node_missing,        // a statement of the graph that no task carries out
    node_twice,          // ... or that two do
    node_mismatch,       // kind, reduction, root, offset or placement differ from the statement
    wrong_access,        // a participation accesses another buffer than the statement says, or in another way
    wrong_storage,       // type, size or kind of memory do not fit the symbol, or what the operation asks for
    written_twice,       // a value with two definitions
    partner_missing,     // a role that takes part has no participation, or has two
    partner_mismatch,    // partners differ in element type, count or place
    wrong_communicator,  // the communicator does not join the roles that take part
    order_not_permutation,
    edge_backward,  // a dependency against the order
    step_missing,
    step_order,  // a role's steps are not the restriction of the order, or one stands twice
    stream_wrong,
    wait_unknown_event,  // no step records it
    wait_wrong_record,   // it binds to another step or run than it names
    event_recorded_twice,
    race,                   // conflicting accesses of one buffer, not ordered by streams and events
    race_across_runs,       // ... in two runs, of one buffer or of two that share bytes
    slot_shared_too_early,  // bytes taken over while the former owner's accesses may still be running
    overlap_of_live_bytes,  // bytes taken over while the former owner is still to be read
    stale_read,             // the value of an earlier run, or none
    wrong_value,            // another state than the one that the nearest update above has left
    slot_not_dedicated,     // memory of a buffer with several slots shared with another, or its slots with each other
    out_of_arena,
    misaligned,
    symmetric_offset,  // buffers of one collective at different places on their roles
    alias_wrong,       // an in-place result that is not at its argument's bytes, or whose argument is still read
    too_few_slots      // fewer copies of an input, an output or a channel's value than the options ask for
};

constexpr const char* name_of(flaw f) {
    constexpr const char* names[] = {"none",
                                     "bad_table",
                                     "node_missing",
                                     "node_twice",
                                     "node_mismatch",
                                     "wrong_access",
                                     "wrong_storage",
                                     "written_twice",
                                     "partner_missing",
                                     "partner_mismatch",
                                     "wrong_communicator",
                                     "order_not_permutation",
                                     "edge_backward",
                                     "step_missing",
                                     "step_order",
                                     "stream_wrong",
                                     "wait_unknown_event",
                                     "wait_wrong_record",
                                     "event_recorded_twice",
                                     "race",
                                     "race_across_runs",
                                     "slot_shared_too_early",
                                     "overlap_of_live_bytes",
                                     "stale_read",
                                     "wrong_value",
                                     "slot_not_dedicated",
                                     "out_of_arena",
                                     "misaligned",
                                     "symmetric_offset",
                                     "alias_wrong",
                                     "too_few_slots"};
    return names[static_cast<int>(f)];
}

// The name of the stage (plan/pipeline.hpp) that has made what is wrong, as far as the kind of flaw tells.
constexpr const char* stage_of(flaw f) {
    // Long: a case for each flaw.
    switch (f) {
        case flaw::none: return "";
        case flaw::bad_table: return "emit";
        case flaw::node_missing:
        case flaw::node_twice:
        case flaw::node_mismatch:
        case flaw::wrong_access:
        case flaw::wrong_storage:
        case flaw::written_twice:
        case flaw::partner_missing:
        case flaw::partner_mismatch:
        case flaw::wrong_communicator:
        case flaw::too_few_slots: return "expand";
        case flaw::order_not_permutation:
        case flaw::edge_backward: return "schedule";
        case flaw::step_missing:
        case flaw::step_order:
        case flaw::stream_wrong: return "issue";
        case flaw::wait_unknown_event:
        case flaw::wait_wrong_record:
        case flaw::event_recorded_twice: return "emit";
        case flaw::race:
        case flaw::stale_read:
        case flaw::wrong_value: return "synchronise";
        case flaw::race_across_runs: return "wait across runs";
        case flaw::slot_shared_too_early:
        case flaw::overlap_of_live_bytes:
        case flaw::slot_not_dedicated:
        case flaw::out_of_arena:
        case flaw::misaligned:
        case flaw::symmetric_offset:
        case flaw::alias_wrong: return "assign memory";
    }
    return "";
}

struct verdict {
    flaw what = flaw::none;
    int role = -1;
    int task = -1;
    int other = -1;  // the task it collides with, where one is known
    int buffer = -1;
    int run = -1;   // of the unrolled runs, the one in which it shows
    int node = -1;  // the statement that no task carries out

    constexpr explicit operator bool() const { return what == flaw::none; }
};

}  // namespace dovetail::plan
