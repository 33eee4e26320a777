// Communication as operations of the language, on one tensor per rank. Where: axes of the mesh (none: all of them); outside
// `on`, with one argument per role, the roles themselves. gather and scatter forms act on extent 0.
#pragma once

#include "statements.hpp"

namespace dovetail::ops {

// Reductions. The order of a floating-point sum is the backend's. Minimum and maximum take a number before not a number.
struct sum;
struct product;
struct minimum;
struct maximum;
struct average;

// Root of a rooted form: a role, or a position along the axes. Off the root the result may not be read.
template <class Role>
struct root;
template <int Lane>
struct root_index;
// Receivers of a broadcast or scatter over roles, in order.
template <class... Roles>
struct to;
// What the positions at the edge of a shift get: zeros, or the values of the other edge.
struct zero_edge;
struct periodic;

// What a permute moves: from one position on its axis to another, or to itself. Each position is the source of one pair at most, and
// the target of one at most. On an axis of open width the executor checks that there are so many.
template <int Source, int Target>
struct pair;

template <class Reduction, class... Where> struct all_reduce;           // [E...] -> [E...]
template <class Reduction, class... Where> struct reduce;               // [E...] -> [E...] on the root
template <class... Where> struct broadcast;                             // [E...] of the root -> [E...]
template <class... Where> struct all_gather;                            // [E0, ...] -> [n E0, ...]
template <class Reduction, class... Where> struct reduce_scatter;       // [n E0, ...] -> [E0, ...]
template <class... Where> struct all_to_all;                            // [n E0, ...] -> [n E0, ...], block i to member i
template <class... Where> struct gather;                                // [E0, ...] -> [n E0, ...] on the root
template <class... Where> struct scatter;                               // [n E0, ...] of the root -> [E0, ...]
template <class Axis, int Offset, class Edge = periodic> struct shift;  // index i gets the value of index i - Offset
template <class Axis, class... Pairs> struct permute;                   // position Target gets the value of position Source of its pair, or zeros
struct to_host;                                                         // device -> pinned host memory, on the copy stream
struct from_host;                                                       // pinned host memory -> device, on the copy stream

}  // namespace dovetail::ops
