// Data-parallel training of a network of two layers; the mean of the gradients over the ranks by all_reduce.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/launch/host/world.hpp>
#include <dovetail/ops/ops.hpp>

#include <cstdio>

namespace dv = dovetail;

namespace app {
using namespace dv::ops;

struct dp;
struct images;
struct labels;
struct rate;
struct logits;
struct loss;
struct mean_loss;
struct probabilities;
template <int> struct weight;
template <int> struct bias;
template <int> struct activation;
template <int> struct gradient;
template <int> struct weight_gradient;
template <int> struct bias_gradients;

constexpr int batch = 32;
constexpr int width[] = {784, 256, 10};

template <int L> using parameters = dv::group<
    dv::state<weight<L>, dv::tensor<float, width[L], width[L + 1]>, normal_init<L + 1, 1, 16>, dv::replicated<dp>>,
    dv::state<bias<L>, dv::tensor<float, width[L + 1]>, zeros, dv::replicated<dp>>>;

template <int L> using gradients = dv::group<
    dv::let<weight_gradient<L>, all_reduce<average, dp>(matmul_tn(activation<L>, gradient<L>))>,
    dv::let<bias_gradients<L>, all_reduce<average, dp>(bias_gradient(gradient<L>))>>;

template <int L> using descent = dv::group<
    dv::update<weight<L>, sgd(weight<L>, weight_gradient<L>, rate)>,
    dv::update<bias<L>, sgd(bias<L>, bias_gradients<L>, rate)>>;

struct train : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<images, dv::tensor<float, batch, 784>>,
    dv::input<labels, dv::tensor<std::int32_t, batch>>,
    dv::input<rate, dv::scalar<float>, dv::replicated<dp>>,
    dv::repeat<parameters, 2>,
    dv::let<activation<0>, copy(images)>,
    dv::let<activation<1>, relu(bias_add(matmul(activation<0>, weight<0>), bias<0>))>,
    dv::let<logits, bias_add(matmul(activation<1>, weight<1>), bias<1>)>,
    dv::let<dv::values<loss, probabilities>, softmax_cross_entropy(logits, labels)>,
    dv::let<mean_loss, all_reduce<average, dp>(loss)>,
    dv::let<gradient<1>, softmax_cross_entropy_gradient(probabilities, labels)>,
    dv::let<gradient<0>, relu_gradient(matmul_nt(gradient<1>, weight<1>), activation<1>)>,
    dv::repeat<gradients, 2>,
    dv::repeat<descent, 2>,
    dv::output<mean_loss>> {};

using plan = dv::options<dv::machine::h200_nvlink, dv::assumed_width<4>>;
}  // namespace app

int main() {
    dv::host::world world{4};
    world.run([](auto& rank) {
        dv::executor<app::train, app::plan> step{rank, std::chrono::seconds{30}};
        step.bind(dv::name<app::rate>, 0.05f);
        const std::vector<float> images(app::batch * 784, 0.5f);
        const std::vector<std::int32_t> labels(app::batch, 7);
        float last = 0;
        for (int i = 0; i < 100; ++i) {
            step.bind(dv::name<app::images>, images).bind(dv::name<app::labels>, labels);
            const auto ticket = step.run();
            ticket.wait_for(std::chrono::seconds{10});
            last = ticket.read(dv::name<app::mean_loss>)[0];
        }
        const std::vector<float> learned = step.read_state(dv::name<app::bias<1>>);
        if (rank.index() == 0) std::printf("loss %g, bias %g\n", double{last}, double{learned[0]});
    });
}
