// Inference through three stages on a rank each, four micro-batches on their way at a time.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <cstdio>

namespace dv = dovetail;

namespace serving {
using namespace dv::ops;

template <int> struct stage;
template <int> struct tokens;
template <int Micro> struct embedded;
template <int Micro> struct middle;
template <int Micro> struct hidden;
template <int Micro> struct logits;
struct embedding;
struct up;
struct down;
struct head;

constexpr int micro_batches = 4;
using activations = dv::tensor<float, 16, 128>;

template <int M> using arrival = dv::input<tokens<M>, dv::tensor<float, 16, 512>>;
template <int M> using embed = dv::let<embedded<M>, matmul(tokens<M>, embedding)>;
template <int M> using transform = dv::group<
    dv::let<middle<M>, relu(matmul(embedded<M>, up))>,
    dv::let<hidden<M>, add(matmul(middle<M>, down), embedded<M>)>>;
template <int M> using classify = dv::let<logits<M>, matmul(hidden<M>, head)>;

struct model : dv::graph<
    dv::repeat<arrival, micro_batches>,
    dv::on<stage<0>,
        dv::state<embedding, dv::tensor<float, 512, 128>, normal_init<1, 1, 20>>,
        dv::repeat<embed, micro_batches>>,
    dv::on<stage<1>,
        dv::state<up, dv::tensor<float, 128, 512>, normal_init<2, 1, 12>>,
        dv::state<down, dv::tensor<float, 512, 128>, normal_init<3, 1, 24>>,
        dv::repeat<transform, micro_batches>>,
    dv::on<stage<2>,
        dv::state<head, dv::tensor<float, 128, 10>, normal_init<4, 1, 12>>,
        dv::repeat<classify, micro_batches>>,
    dv::output<dv::all<micro_batches, logits>>> {};

using settings = dv::options<dv::machine::h200_nvlink, dv::in_flight<2>, dv::channel_slots<2>>;
static_assert(dv::valid<model>);
static_assert(dv::peak_bytes<model, stage<1>, settings> < 16'000'000);
}  // namespace serving

int main() {
    dv::host::world world{3};
    world.run([](auto& rank) {
        using namespace serving;
        dv::executor<model, settings> step{rank};
        const std::vector<float> batch(16 * 512, 1.0f);
        step.bind(dv::name<tokens<0>>, batch).bind(dv::name<tokens<1>>, batch).bind(dv::name<tokens<2>>, batch).bind(dv::name<tokens<3>>, batch);
        const auto ticket = step.run();
        ticket.wait();
        if (!rank.is(dv::name<stage<2>>)) return;
        const auto first = ticket.read(dv::name<logits<0>>);
        const std::vector<float> last = ticket.read(dv::name<logits<3>>).host();
        std::printf("%g %g\n", double{first[0]}, double{last[9]});
    });
}
