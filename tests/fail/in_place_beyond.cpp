// EXPECT: error::bad_in_place
// SAYS: app::beyond
#include "ops.hpp"

namespace app {
struct beyond : copy_of {
    static constexpr int in_place = 1;
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, beyond(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
