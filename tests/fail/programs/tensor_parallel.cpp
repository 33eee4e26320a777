// A transformer's block of products, cut over eight ranks by columns and rows: the facts of its plan, and a function that runs it.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

namespace dv = dovetail;

namespace engine {
using namespace dv::ops;

struct tp;
struct tokens;
struct shard;
struct gathered;
struct gate;
struct gate_weight;
struct up;
struct up_weight;
struct mixed;
struct down_weight;
struct partial;
struct reduced;
struct result;
struct scattered;
struct half_of_it;

constexpr int width = 8;
constexpr int model_width = 512;
constexpr int inner = 2048 / width;

struct block : dv::graph<
    dv::mesh<dv::axis<tp, width>>,
    dv::input<shard, dv::tensor<dv::half, 64, model_width>>,
    dv::state<gate_weight, dv::tensor<dv::half, model_width, inner>, normal_init<1, 1, 32>>,
    dv::state<up_weight, dv::tensor<dv::half, model_width, inner>, normal_init<2, 1, 32>>,
    dv::state<down_weight, dv::tensor<dv::half, inner, model_width>, normal_init<3, 1, 32>>,
    dv::let<gathered, all_gather<tp>(shard)>,
    dv::let<gate, relu(matmul(gathered, gate_weight))>,
    dv::let<up, matmul(gathered, up_weight)>,
    dv::let<mixed, multiply(gate, up)>,
    dv::let<partial, matmul(mixed, down_weight)>,
    dv::let<reduced, reduce_scatter<sum, tp>(partial)>,
    dv::let<result, add(reduced, shard)>,
    dv::output<result>> {};

using plan = dv::options<dv::machine::h200_nvlink, dv::memory_limit<40'000'000>>;
static_assert(dv::predicted_time<block, plan> < 1'000'000'000);  // 1 ms
static_assert(dv::hidden_fraction<block, plan> >= 0.0);
static_assert(dv::peak_bytes<block, dv::unnamed_role, plan> <= 40'000'000);
}  // namespace engine

std::vector<dv::half> run_block(dv::host::rank& rank, const std::vector<dv::half>& values) {
    using namespace engine;
    dv::executor<block, plan> step{rank, dv::record_times};
    step.bind(dv::name<shard>, values);
    const auto ticket = step.run();
    ticket.wait();
    return ticket.read(dv::name<result>).host();
}
