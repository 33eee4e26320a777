// EXPECT: error::memory_exceeded
// SAYS: none of the schedules that were tried for this role (first)
// SAYS: number<5120>
#include "ops.hpp"

// As written four large values are held at once, made and used in turn only one: that is the best, and too much.
namespace app {
template <int N>
struct make {
    static constexpr dv::tensor_type result(dv::tensor_type x) { return x.with_extents(N); }
};
template <int> struct large;
template <int> struct small;
template <int I> using widened = dv::let<large<I>, make<1000>(x)>;
template <int I> using narrowed = dv::let<small<I>, make<1>(large<I>)>;
struct model : dv::graph<dv::input<x, vector>, dv::repeat<widened, 4>, dv::repeat<narrowed, 4>, dv::output<dv::all<4, small>>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::memory_limit<4000>>>;
