// A plan in the message of a test that fails, a line a role: INFO(shown(...)) makes it only then.
#pragma once

#include <dovetail/observe/text.hpp>

namespace support {

inline std::string shown(const dovetail::ir::graph& g, const dovetail::ir::program& p, const dovetail::plan::plan& plan,
                         const dovetail::plan_options& s) {
    return "the plan:\n" + dovetail::observe::compact(dovetail::observe::plan_view{{&dovetail::nameless, g, p, plan, s}});
}
template <class Sample>
std::string shown(const Sample& x) {
    return shown(x.rewritten, x.program, x.plan, x.s);
}

}  // namespace support
