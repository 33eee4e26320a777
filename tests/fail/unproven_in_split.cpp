// EXPECT: error::unproven
// SAYS: flaws::misaligned
// SAYS: operation<app::per_row, app::t>
// SAYS: buffer<app::t>
#include "ops.hpp"

#include "../support/damaged_plan.hpp"

// The block of a value has no number in the graph as written.
namespace app {
using blocks = dv::tensor<float, 8, 64>;
struct model : dv::graph<dv::input<x, blocks>, dv::split<2, dv::let<t, per_row(x)>, dv::let<y, per_row(t)>>, dv::output<y>> {};
constexpr int block_buffer(const dv::ir::program& p) {
    for (int b = 0; b < p.buffers.size(); ++b)
        if (p.buffers[b].symbol >= dv::plan::typed<model>::value.symbols.size()) return b;
    return -1;
}
struct shifted {
    static constexpr void plan(const dv::ir::program& p, auto& made) { ++made.placements[block_buffer(p)].offset; }
};
}  // namespace app

constexpr bool reported = (dv::error::report<support::damaged<app::model, dv::options<>, app::shifted>::error>(), true);
