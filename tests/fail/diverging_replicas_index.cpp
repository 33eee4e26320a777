// EXPECT: error::diverging_replicas
#include "ops.hpp"

namespace app {
struct model : dv::graph<dv::mesh<dv::axis<dp>>, dv::state<w, dv::scalar<std::int32_t>, ones, dv::replicated<dp>>, dv::update<w, gelu(dv::axis_index<dp>)>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
