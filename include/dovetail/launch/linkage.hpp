// One symbol that makes the linker refuse units that do not belong together, by a name that says what to do. Units that are compiled
// separately refer to it, and dovetail/src.hpp defines it: without that header, or with two units that include it, it is undefined
// or defined twice. In header-only units it is no variable of threads, and linkers refuse to take one for the other: a program in
// which both kinds of units meet is not linked either. (lld does not look at a header-only unit of clang's that comes last; the program
// then uses the definitions of dovetail/src.hpp throughout.)
#pragma once

#include "../core/config.hpp"

namespace dovetail {

#if defined(DOVETAIL_SEPARATE_COMPILATION)
extern constinit thread_local const char exactly_one_unit_includes_dovetail_src_hpp_and_all_define_DOVETAIL_SEPARATE_COMPILATION;
namespace detail {
[[gnu::used]] inline const char* refer_to_src() { return &exactly_one_unit_includes_dovetail_src_hpp_and_all_define_DOVETAIL_SEPARATE_COMPILATION; }
}  // namespace detail
#else
[[gnu::used]] inline constinit const char exactly_one_unit_includes_dovetail_src_hpp_and_all_define_DOVETAIL_SEPARATE_COMPILATION = 0;
#endif

}  // namespace dovetail
