// The symbol to which separately compiled units refer.
#pragma once

#include "linkage.hpp"

namespace dovetail {

constinit thread_local const char exactly_one_unit_includes_dovetail_src_hpp_and_all_define_DOVETAIL_SEPARATE_COMPILATION = 0;

}  // namespace dovetail
