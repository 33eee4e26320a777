// EXPECT: error::bad_in_place
// SAYS: app::made
#include "ops.hpp"

namespace app {
struct made {
    static constexpr dv::tensor_type result() { return vector::type; }
    static constexpr bool in_place_only = true;
};
struct model : dv::graph<dv::let<y, made()>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
