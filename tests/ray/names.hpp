// Ray's actors as roles, and the names of values in its graphs.
#pragma once

#include <dovetail/dovetail.hpp>
#include <dovetail/ops/ops.hpp>

namespace ray {

namespace dv = dovetail;
using namespace dv::ops;
using number = dv::scalar<float>;

template <int> struct actor;   // a role
template <int> struct in;      // an input
template <int> struct out;     // an output
template <int> struct v;       // a value between tasks
template <int, int> struct w;  // the same, by actor or stage

}  // namespace ray
