// EXPECT: error::pipeline_size
// SAYS: pipeline<2, 0
#include "ops.hpp"

namespace app {
template <int> struct stage;
template <int, int> struct h;
template <int, int> struct d;
template <int M> using feed = dv::input<h<0, M>, vector>;
template <int C, int M> using forward_pass = dv::let<h<C + 1, M>, gelu(h<C, M>)>;
template <int C, int M> using backward_pass = dv::let<d<C, M>, gelu(h<C + 1, M>)>;
struct model
    : dv::graph<dv::repeat<feed, 4>, dv::pipeline<2, 0, dv::one_f_one_b, stage, forward_pass, backward_pass>, dv::output<d<0, 0>>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model>;
