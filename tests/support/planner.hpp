// The planner and the prover as ordinary functions, for graphs that are made at run time: compiled once, in planner.cpp, and not in every
// unit that calls them.
#pragma once

#include <dovetail/plan/make.hpp>
#include <dovetail/plan/prove.hpp>

namespace support {

namespace dv = dovetail;

dv::plan::made make_plan(const dv::ir::graph& g, const dv::plan_options& options);
dv::plan::verdict prove_plan(const dv::ir::graph& g, const dv::ir::program& p, const dv::plan::plan& plan,
                             const dv::plan_options& options);

}  // namespace support
