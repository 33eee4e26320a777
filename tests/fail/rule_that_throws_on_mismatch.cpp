// EXPECT: error::rule_not_constexpr
// SAYS: app::z
// SAYS: app::product
// The rule of the operation in front of it throws as well, and not on these arguments.
#include "ops.hpp"

namespace app {
struct square_alone {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x == matrix::type ? x : throw "another shape"; }
};
struct product {
    static constexpr dv::tensor_type result(dv::tensor_type a, dv::tensor_type b) {
        if (a.extent[1] != b.extent[0]) throw "inner extents differ";
        return a.with_extents(a.extent[0], b.extent[1]);
    }
};
struct model : dv::graph<dv::input<x, matrix>, dv::input<w, dv::tensor<float, 7, 3>>, dv::let<y, square_alone(x)>,
                         dv::let<z, product(y, w)>, dv::output<z>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
