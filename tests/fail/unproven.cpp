// EXPECT: error::unproven
// SAYS: flaws::misaligned
// SAYS: stage::assign_memory
// SAYS: in_role<app::right>
// SAYS: operation<app::gelu, app::z>
// SAYS: buffer<app::z>
#include "ops.hpp"

#include "../support/damaged_plan.hpp"

namespace app {
struct left;
struct right;
struct model : dv::graph<dv::input<x, vector>, dv::on<left, dv::let<y, gelu(x)>>, dv::on<right, dv::let<z, gelu(y)>>, dv::output<z>> {};
struct shifted {
    static constexpr void plan(const dv::ir::program& p, auto& made) { ++made.placements[support::buffer_of<model, z, right>(p)].offset; }
};
}  // namespace app

constexpr bool reported = (dv::error::report<support::damaged<app::model, dv::options<>, app::shifted>::error>(), true);
