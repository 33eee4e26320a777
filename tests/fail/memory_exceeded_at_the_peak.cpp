// EXPECT: error::memory_exceeded
// SAYS: app::second, app::third>
#include "ops.hpp"

// `first` is the largest of all, and gone where most is held.
namespace app {
template <int N>
struct make {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x.with_extents(N); }
};
struct join {
    static constexpr dv::tensor_type result(dv::tensor_type a, dv::tensor_type) { return a.with_extents(1); }
};
struct first;
struct second;
struct third;
struct model : dv::graph<
    dv::input<x, vector>,
    dv::let<first, make<4000>(x)>,
    dv::let<w, make<1>(first)>,
    dv::let<second, make<3500>(w)>,
    dv::let<third, make<3000>(second)>,
    dv::let<y, join(second, third)>,
    dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::memory_limit<20000>>>;
