// EXPECT: error::rule_not_constexpr
// SAYS: app::y
// SAYS: app::refuses_by_exception
// SAYS: for arguments that it refuses
#include "ops.hpp"

namespace app {
struct refuses_by_exception {
    static constexpr dv::tensor_type result(dv::tensor_type x) {
        if (x.rank != 5 || x.extent[0] != 17) throw "another shape";
        return x;
    }
};
struct model : dv::graph<dv::input<x, vector>, dv::let<y, refuses_by_exception(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
