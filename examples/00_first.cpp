// The program at the top of the README; the code below this comment is identical.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <cstdio>
#include <vector>

namespace dv = dovetail;

namespace app {
using namespace dv::ops;
struct value;
struct receiver;
template <int> struct sender;
template <int> struct block;
template <int> struct product;

using matrix = dv::tensor<dv::half, 512, 512>;

template <int I> using make = dv::on<sender<I>, dv::let<block<I>, fill<matrix>(value)>>;
template <int I> using use  = dv::let<product<I>, matmul(block<I>, block<I>)>;

struct three_senders : dv::graph<
    dv::input<value, dv::scalar<float>>,
    dv::repeat<make, 3>,
    dv::on<receiver, dv::repeat<use, 3>>,
    dv::output<dv::all<3, product>>> {};
}  // namespace app

int main() {
    dv::host::world world{4};  // four ranks as threads; with nvcc, dv::cuda::world::local(4): four GPUs
    world.run([](auto& rank) {
        dv::executor<app::three_senders> step{rank};
        step.bind(dv::name<app::value>, 0.5f);
        const auto ticket = step.run();
        if (!rank.is(dv::name<app::receiver>)) return;
        const std::vector<dv::half> product = ticket.read(dv::name<app::product<2>>).host();
        std::printf("%zu elements of %g\n", product.size(), float{product[0]});
    });
}
