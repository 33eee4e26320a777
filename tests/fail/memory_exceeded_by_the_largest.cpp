// EXPECT: error::memory_exceeded
// SAYS: memory_exceeded<app::right, dovetail::error::number<20000>,
// SAYS: app::z, app::s>
#include "ops.hpp"

namespace app {
using large = dv::tensor<float, 4000>;
using larger = dv::tensor<float, 5000>;
template <class T>
struct make {
    static constexpr dv::tensor_type result(dv::tensor_type) { return T::type; }
};
struct model : dv::graph<
    dv::input<x, vector>,
    dv::on<left, dv::let<y, gelu(x)>>,
    dv::on<right, dv::state<s, large, ones>, dv::update<s, make<large>(y)>, dv::let<w, relu(y)>, dv::let<z, make<larger>(w)>>,
    dv::output<z, w>> {};
}  // namespace app

constexpr auto planned = dv::predicted_time<app::model, dv::options<dv::memory_limit<20000>>>;
