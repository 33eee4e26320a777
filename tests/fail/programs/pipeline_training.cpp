// A training step of four layers on two ranks, in a V-shaped pipeline of four micro-batches.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <cstdio>
#include <utility>
#include <vector>

namespace dv = dovetail;

namespace training {
using namespace dv::ops;

template <int> struct stage;
template <int> struct weight;
template <int> struct gradient;
template <int> struct target;
template <int, int> struct value;
template <int, int> struct slope;
struct squares;
struct rate;

constexpr int stages = 2, micro_batches = 4;
using schedule = dv::v_half;
constexpr int layers = dv::pipeline_chunks<schedule, stages>;
using batch = dv::tensor<float, 16, 32>;
using matrix = dv::tensor<float, 32, 32>;

template <int L> using role = stage<dv::pipeline_stage<schedule, stages, L>>;
template <int M> using sample = dv::group<dv::input<value<0, M>, batch>, dv::input<target<M>, batch>>;
template <int L> using parameters = dv::on<role<L>,
    dv::state<weight<L>, matrix, normal_init<L, 1, 6>>,
    dv::state<gradient<L>, matrix>>;

template <int L, int M> using forward = dv::let<value<L + 1, M>, relu(matmul(value<L, M>, weight<L>))>;
template <int L, int M> using backward = dv::group<
    dv::when<L == layers - 1, dv::let<slope<L + 1, M>, subtract(value<L + 1, M>, target<M>)>>,
    dv::when<(L > 0), dv::let<slope<L, M>, matmul_nt(relu_gradient(value<L + 1, M>, slope<L + 1, M>), weight<L>)>>>;
template <int L, int M> using accumulate = dv::group<
    dv::when<M == 0, dv::update<gradient<L>, matmul_tn(value<L, M>, slope<L + 1, M>)>>,
    dv::when<(M > 0), dv::update<gradient<L>, add(gradient<L>, matmul_tn(value<L, M>, slope<L + 1, M>))>>>;
template <int L> using correct = dv::on<role<L>, dv::update<weight<L>, sgd(weight<L>, gradient<L>, rate)>>;

struct step : dv::graph<
    dv::input<rate, dv::scalar<float>>,
    dv::repeat<sample, micro_batches>,
    dv::repeat<parameters, layers>,
    dv::pipeline<stages, micro_batches, schedule, stage, forward, backward, accumulate>,
    dv::repeat<correct, layers>,
    dv::on<stage<0>, dv::let<squares, multiply(slope<layers, 0>, slope<layers, 0>)>>,
    dv::output<squares>> {};

using settings = dv::options<dv::machine::h200_nvlink, dv::force_candidate<dv::candidate::written>>;
static_assert(dv::valid<step>);
static_assert(dv::peak_bytes<step, stage<1>, settings> < 100'000);
}  // namespace training

int main() {
    dv::host::world world{2};
    world.run([](auto& rank) {
        using namespace training;
        dv::executor<step, settings> run{rank};
        const std::vector<float> zeros(16 * 32), ones(16 * 32, 1.0f);
        run.bind(dv::name<rate>, 0.01f);
        run.bind(dv::name<value<0, 0>>, ones).bind(dv::name<value<0, 1>>, ones);
        run.bind(dv::name<value<0, 2>>, ones).bind(dv::name<value<0, 3>>, ones);
        run.bind(dv::name<target<0>>, zeros).bind(dv::name<target<1>>, zeros);
        run.bind(dv::name<target<2>>, zeros).bind(dv::name<target<3>>, zeros);
        const auto ticket = run.run();
        ticket.wait();
        if (rank.is(dv::name<stage<0>>)) std::printf("%g\n", double{ticket.read(dv::name<squares>)[0]});
    });
}
