// What stands around the reference's run of a graph: a graph `model` whose input x is bound and whose result y the role `receiver` reads.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <cstdlib>
#include <vector>

namespace dv = dovetail;

namespace app {
using namespace dv::ops;
struct x;
struct y;
struct receiver;
struct dp;
using vector = dv::tensor<float, 64>;
struct model : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<x, vector>,
    dv::on<receiver, dv::let<y, relu(x)>>,
    dv::output<y>> {};
using options = dv::options<dv::machine::h200_nvlink>;
const std::vector<float> values(vector::size, 2);
void use(const std::vector<float>& result) {
    if (result != values) std::abort();
}

void session() {
#include "readme_block"
}
}  // namespace app

int main() { app::session(); }
