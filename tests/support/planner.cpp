#include "planner.hpp"

namespace support {

dv::plan::made make_plan(const dv::ir::graph& g, const dv::plan_options& options) { return dv::plan::make(g, options); }

dv::plan::verdict prove_plan(const dv::ir::graph& g, const dv::ir::program& p, const dv::plan::plan& plan,
                             const dv::plan_options& options) {
    return dv::plan::prove(g, p, plan, options);
}

}  // namespace support
