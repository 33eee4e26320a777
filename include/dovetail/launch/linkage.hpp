// A symbol that makes the linker reject units that must not be linked together; its name tells what to do. Separately compiled units refer
// to it, and dovetail/src.hpp defines it: it is undefined if no unit includes that header, and defined twice if two do. Header-only units
// declare it without thread_local, and linkers reject a symbol that is thread-local in one unit only: this catches programs that mix both
// kinds of units. (lld does not check a header-only unit of clang's that comes last; the program then uses the definitions of
// dovetail/src.hpp throughout.) The name contains that of a macro, in capitals.
#pragma once

#include "../core/config.hpp"

namespace dovetail {

// NOLINTBEGIN(readability-identifier-naming)
#if defined(DOVETAIL_SEPARATE_COMPILATION)
extern constinit thread_local const char exactly_one_unit_includes_dovetail_src_hpp_and_all_define_DOVETAIL_SEPARATE_COMPILATION;
namespace detail {
[[gnu::used]] inline const char* refer_to_src() {
    return &exactly_one_unit_includes_dovetail_src_hpp_and_all_define_DOVETAIL_SEPARATE_COMPILATION;
}
}  // namespace detail
#else
[[gnu::used]] inline constinit const char exactly_one_unit_includes_dovetail_src_hpp_and_all_define_DOVETAIL_SEPARATE_COMPILATION = 0;
#endif
// NOLINTEND(readability-identifier-naming)

}  // namespace dovetail
