// The only include of Boost.Hana: heterogeneous sequences that connect the steps of a plan with the types of user operations.
#pragma once

#if defined(__GNUC__)
#pragma GCC system_header  // suppresses warnings from Boost's headers
#endif

#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>

namespace dovetail {
namespace hana = boost::hana;
}
