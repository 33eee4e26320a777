// EXPECT: error::cost_not_constexpr
// SAYS: app::at_run_time
// The first cost cannot be called with the tensors on which costs are tried, but with its argument.
#include "ops.hpp"

namespace app {
struct only_eights : copy_of {
    static constexpr dv::cost cost(dv::tensor_type x) {
        if (x.extent[0] != 8) throw 1;
        return dv::bytes_moved(x.bytes());
    }
};
inline int calls = 0;
struct at_run_time : copy_of {
    static dv::cost cost(dv::tensor_type x) {
        ++calls;
        return dv::bytes_moved(x.bytes());
    }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, only_eights(x)>, dv::let<z, at_run_time(y)>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
