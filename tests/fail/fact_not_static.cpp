// EXPECT: error::private_fact
// SAYS: app::made_there
// A member of an object is no fact of the operation.
#include "ops.hpp"

namespace app {
struct made_there : copy_of {
    int in_place = 0;
};
struct model : dv::graph<dv::input<x, matrix>, dv::let<y, made_there(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
