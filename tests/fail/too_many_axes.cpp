// EXPECT: error::too_many_axes
// SAYS: app::direction<32
#include "ops.hpp"

namespace app {
template <int> struct direction;
template <class> struct width_along;
template <int... I> struct width_along<std::integer_sequence<int, I...>> { using type = dv::mesh<dv::axis<direction<I>, 1>...>; };
struct model : dv::graph<dv::input<x, vector>, width_along<std::make_integer_sequence<int, 33>>::type, dv::let<y, gelu(x)>, dv::output<y>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
