// EXPECT: error::private_fact
// SAYS: app::hides_it
#include "ops.hpp"

namespace app {
class hides_it : public copy_of {
    static constexpr int in_place = 0;
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, hides_it(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
