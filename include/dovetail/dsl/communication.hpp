// Communication as operations of the language, on one tensor per rank. `Where` names axes of the mesh (none: all of them). A collective
// outside `on` has one argument per role and is over those roles. Forms that gather or scatter act on extent 0.
#pragma once

#include "statements.hpp"

namespace dovetail::ops {

// Reductions. The backend chooses the order of a floating-point sum. Minimum and maximum ignore a NaN where the other operand is a number.
struct sum;
struct product;
struct minimum;
struct maximum;
struct average;

// The root of a collective that has one: a role, or a position along the axes. Where only the root has the result, a read elsewhere is
// an error.
template <class Role>
struct root;
template <int Index>
struct root_index;
// Receivers of a broadcast or scatter over roles, in order.
template <class... Roles>
struct to;
// The result at the edge of a shift: zeros, or the values of the opposite edge.
struct zero_edge;
struct periodic;

// A move of a permute: from one position on its axis to another, or to itself. Each position is the source of at most one pair and the
// target of at most one. On an axis of open width the executor checks that the positions exist.
template <int Source, int Target>
struct pair;

template <class Reduction, class... Where> struct all_reduce;           // [E...] -> [E...]
template <class Reduction, class... Where> struct reduce;               // [E...] -> [E...] on the root
template <class... Where> struct broadcast;                             // [E...] of the root -> [E...]
template <class... Where> struct all_gather;                            // [E0, ...] -> [n E0, ...]
template <class Reduction, class... Where> struct reduce_scatter;       // [n E0, ...] -> [E0, ...]
template <class... Where> struct all_to_all;                            // [n E0, ...] -> [n E0, ...], block i to member i
template <class... Where> struct own_rows;                              // [n E0, ...] -> [E0, ...], the rank's block, by a local copy
template <class... Where> struct gather;                                // [E0, ...] -> [n E0, ...] on the root
template <class... Where> struct scatter;                               // [n E0, ...] of the root -> [E0, ...]
template <class Axis, int Offset, class Edge = periodic> struct shift;  // index i gets the value of index i - Offset
template <class Axis, class... Pairs> struct permute;  // position Target gets the value of position Source of its pair, or zeros
struct to_host;                                        // device -> pinned host memory, on the copy stream
struct from_host;                                      // pinned host memory -> device, on the copy stream

}  // namespace dovetail::ops
