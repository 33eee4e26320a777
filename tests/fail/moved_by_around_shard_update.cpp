// EXPECT: error::not_by_copy_engines
// SAYS: moved_by<
// SAYS: app::w
// The rows of all ranks are gathered into the state.
#include "ops.hpp"

namespace app {
struct step {
    static constexpr dv::tensor_type result(dv::tensor_type w, dv::tensor_type) { return w; }
    static constexpr auto row_wise = dv::elementwise();
};
struct model : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<x, matrix>, dv::state<w, matrix, ones, dv::replicated<dp>>,
                         dv::moved_by<dv::transport::peer_copy, dv::shard_update<dv::update<w, step(w, all_reduce<sum, dp>(x))>>>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
