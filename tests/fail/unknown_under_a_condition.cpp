// EXPECT: error::unknown_name
// SAYS: app::typo
// SAYS: in<app::block, 2>
#include "ops.hpp"

// The first body of a repetition that goes down, and a statement under a condition.
namespace app {
struct typo;
template <int> struct made;
template <int I> using block = dv::group<dv::when<I != 2, dv::let<made<I>, gelu(x)>>, dv::when<I == 2, dv::let<made<I>, gelu(typo)>>>;
struct model : dv::graph<dv::input<x, vector>, dv::repeat<block, dv::down<3>>, dv::output<dv::all<3, made>>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
