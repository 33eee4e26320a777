// EXPECT: error::not_a_name_constant
// SAYS: int
#include "launched.hpp"

bool program(dv::host::rank& rank) { return rank.is(0); }
