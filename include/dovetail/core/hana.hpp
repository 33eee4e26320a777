// The only include of Boost.Hana: heterogeneous sequences for the bridge from a plan's step to a user's callable.
#pragma once

#if defined(__GNUC__)
#pragma GCC system_header  // its warnings are not the user's
#endif

#include <boost/hana/flatten.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>

namespace dovetail {
namespace hana = boost::hana;
}
