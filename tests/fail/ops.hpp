// Operations and names for the programs that must not compile.
#pragma once

#include <dovetail/dovetail.hpp>

namespace dv = dovetail;

namespace app {

using namespace dv::ops;

using vector = dv::tensor<float, 8>;
using matrix = dv::tensor<float, 8, 4>;

struct copy_of {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x; }
};
struct gelu : copy_of {};
struct relu : copy_of {};
struct plus {
    static constexpr dv::tensor_type result(dv::tensor_type a, dv::tensor_type b) { return a == b ? a : dv::tensor_type{}; }
};
struct halves {
    static constexpr dv::results result(dv::tensor_type x) { return {x.with_extents(x.extent[0] / 2), x.with_extents(x.extent[0] / 2)}; }
};
struct overwrite {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x; }
    static constexpr int in_place = 0;
    static constexpr bool in_place_only = true;
};
struct per_row : copy_of {
    static constexpr auto row_wise = dv::by_rows(0);
};
struct per_element : copy_of {
    static constexpr auto row_wise = dv::elementwise();
};
struct ones {
    template <class X>
    static void launch(dv::host::stream, dv::out<X>);
};

struct x;
struct y;
struct z;
struct w;
struct s;
struct t;
struct forward;
struct gradient;
struct left;
struct right;
struct middle;
struct dp;
struct tp;

}  // namespace app
