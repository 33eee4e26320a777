// Layers whose weights stay in pinned host memory and are copied to the device when they are needed.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

namespace dv = dovetail;

namespace offload {
using namespace dv::ops;

template <int> struct host_weight;
template <int> struct weight;
template <int> struct hidden;
struct features;
struct checkpoint;
struct restored;
struct score;
struct loudest;

constexpr int layers = 4;
using square = dv::tensor<float, 128, 128>;
using batch = dv::tensor<float, 16, 128>;

template <int L> using stored = dv::input<host_weight<L>, square, dv::pinned>;
template <int L> using fetch = dv::let<weight<L>, from_host(host_weight<L>)>;
template <int L> using layer = dv::let<hidden<L + 1>, relu(matmul(hidden<L>, weight<L>))>;

struct forward : dv::graph<
    dv::input<features, batch>,
    dv::repeat<stored, layers>,
    dv::repeat<fetch, layers>,
    dv::let<hidden<0>, scale(features, score)>,
    dv::input<score, dv::scalar<float>>,
    dv::repeat<layer, layers>,
    dv::let<checkpoint, to_host(hidden<2>)>,
    dv::let<restored, add(from_host(checkpoint), hidden<layers>)>,
    dv::let<loudest, argmax(restored)>,
    dv::output<restored, loudest>> {};

struct workstation {
    static constexpr dv::machine_description description{
        .name = "workstation", .half_flops = 100'000'000'000, .float_flops = 50'000'000'000, .double_flops = 1'000'000'000,
        .memory_bandwidth = 900'000'000'000, .launch_latency = 3'000'000, .edge_latency = 1'000'000, .link_latency = 20'000'000,
        .link_bandwidth = 10'000'000'000, .bus_bandwidth = 10'000'000'000, .host_bandwidth = 12'000'000'000};
};
using plan = dv::options<workstation, dv::in_flight<2>, dv::overlap<true>>;
static_assert(dv::valid<forward>);
static_assert(dv::peak_bytes<forward, dv::unnamed_role, plan> < 2'000'000);
}  // namespace offload

template <class Rank>
void serve(Rank& rank, const std::vector<std::vector<float>>& weights) {
    using namespace offload;
    dv::executor<forward, plan> step{rank};
    step.bind(dv::name<score>, 1.0f);
    step.bind(dv::name<host_weight<0>>, weights[0].data(), 128 * 128);
    step.bind(dv::name<host_weight<1>>, weights[1].data(), 128 * 128);
    step.bind(dv::name<host_weight<2>>, weights[2].data(), 128 * 128);
    step.bind(dv::name<host_weight<3>>, weights[3].data(), 128 * 128);
    for (int i = 0; i < 10; ++i) {
        step.bind(dv::name<features>, std::vector<float>(batch::size, 1.0f));
        auto ticket = step.run();
        const auto best = ticket.read(dv::name<loudest>);
        if (best[0] < 0 || best.size() != 16) return;
    }
}

int main() {
    dv::host::world world{1};
    const std::vector<std::vector<float>> weights(offload::layers, std::vector<float>(128 * 128, 0.01f));
    world.run([&](auto& rank) { serve(rank, weights); });
}
