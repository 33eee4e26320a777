// EXPECT: operation's in_place names an argument that it is not given
// SAYS: app::beyond
#include "ops.hpp"

namespace app {
struct beyond : copy_of {
    static constexpr int in_place = 1;
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, beyond(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
