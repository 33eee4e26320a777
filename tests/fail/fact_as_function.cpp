// EXPECT: error::private_fact
// SAYS: app::prints
// As a condition a function is true, whatever it returns.
#include "ops.hpp"

namespace app {
struct prints : copy_of {
    static constexpr bool has_effect() { return false; }
};
struct model : dv::graph<dv::input<x, matrix>, dv::let<y, prints(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
