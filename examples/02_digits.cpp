// Data-parallel training of a small network on handwritten digits, on 1, 2 and 4 ranks with the same loss curve. Each rank has its part of
// the batch. An all_reduce averages each gradient in a statement of its own, so that the planner can start it while the backward pass goes
// on. Weights and velocities are states, updated in place. They are saved to a file in the middle of a training, and another one resumes
// from it with the very losses of one that was not interrupted.
//
// Runs on host threads with simulated links (timed sleeps), or with --gpu on four GPUs. Fails if the curves differ or fewer than 95% of the
// held-out digits are recognised.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/observe/observe.hpp>  // DOVETAIL_REPORT=1, DOVETAIL_TRACE=file.json, ...: see examples/reference.md
#include <dovetail/ops/ops.hpp>

#include "digits.hpp"
#include "reports.hpp"
#include "words.hpp"
#include "worlds.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace dv = dovetail;
namespace observe = dv::observe;

namespace app {
using namespace dv::ops;

struct dp;  // the axis of the ranks
struct labels;
struct rate;
struct loss;
struct mean_loss;
struct probabilities;
struct correct;
struct all_correct;
template <int> struct activation;  // 0: the images, 3: the logits
template <int> struct gradient;  // of the loss with respect to the layer's output before relu
template <int> struct weight;
template <int> struct bias;
template <int> struct weight_velocity;
template <int> struct bias_velocity;
template <int> struct gradient_of_weight;
template <int> struct gradient_of_bias;
template <int> struct mean_gradient_of_weight;
template <int> struct mean_gradient_of_bias;

constexpr int width[] = {digits::pixels, 768, 384, digits::classes};
template <int L> using weights = dv::tensor<float, width[L], width[L + 1]>;
template <int L> using biases = dv::tensor<float, width[L + 1]>;

template <int L> using parameters = dv::group<
    dv::state<weight<L>, weights<L>, normal_init<L + 1, 1, 10>, dv::replicated<dp>>,
    dv::state<bias<L>, biases<L>, zeros, dv::replicated<dp>>>;

template <int L> using velocities = dv::group<
    dv::state<weight_velocity<L>, weights<L>, zeros, dv::replicated<dp>>,
    dv::state<bias_velocity<L>, biases<L>, zeros, dv::replicated<dp>>>;

template <int L> using hidden_layer = dv::let<activation<L + 1>, relu(bias_add(matmul(activation<L>, weight<L>), bias<L>))>;

using forward = dv::group<
    dv::repeat<hidden_layer, 2>,
    dv::let<activation<3>, bias_add(matmul(activation<2>, weight<2>), bias<2>)>>;

template <int L> using gradient_through = dv::let<gradient<L>, relu_gradient(matmul_nt(gradient<L + 1>, weight<L + 1>), activation<L + 1>)>;

template <int L> using gradients_of_parameters = dv::group<
    dv::let<gradient_of_weight<L>, matmul_tn(activation<L>, gradient<L>)>,
    dv::let<gradient_of_bias<L>, bias_gradient(gradient<L>)>>;

template <int L> using mean_gradients = dv::group<
    dv::let<mean_gradient_of_weight<L>, all_reduce<average, dp>(gradient_of_weight<L>)>,
    dv::let<mean_gradient_of_bias<L>, all_reduce<average, dp>(gradient_of_bias<L>)>>;

template <int L> using update_layer = dv::group<
    dv::update<dv::values<weight<L>, weight_velocity<L>>,
               sgd_momentum<9, 10>(weight<L>, weight_velocity<L>, mean_gradient_of_weight<L>, rate)>,
    dv::update<dv::values<bias<L>, bias_velocity<L>>, sgd_momentum<9, 10>(bias<L>, bias_velocity<L>, mean_gradient_of_bias<L>, rate)>>;

template <int Batch>
struct train : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<activation<0>, dv::tensor<float, Batch, digits::pixels>>,
    dv::input<labels, dv::tensor<std::int32_t, Batch>>,
    dv::input<rate, dv::scalar<float>, dv::replicated<dp>>,
    dv::repeat<parameters, 3>, dv::repeat<velocities, 3>,
    forward,
    dv::let<dv::values<loss, probabilities>, softmax_cross_entropy(activation<3>, labels)>,
    dv::let<mean_loss, all_reduce<average, dp>(loss)>,
    dv::let<gradient<2>, softmax_cross_entropy_gradient(probabilities, labels)>,
    dv::repeat<gradient_through, 2>,
    dv::repeat<gradients_of_parameters, 3>,
    dv::repeat<mean_gradients, 3>,
    dv::repeat<update_layer, 3>,
    dv::output<mean_loss>> {};

template <int Batch>
struct evaluate : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<activation<0>, dv::tensor<float, Batch, digits::pixels>>,
    dv::input<labels, dv::tensor<std::int32_t, Batch>>,
    dv::repeat<parameters, 3>,
    forward,
    dv::let<correct, correct_count(activation<3>, labels)>,
    dv::let<all_correct, all_reduce<sum, dp>(correct)>,
    dv::output<all_correct>> {};

constexpr int batch = 96;  // of all ranks together
constexpr int steps_of_epoch = digits::training_size / batch;
constexpr int epochs = 8;
template <int Ranks, class World>
using plan_options =
    dv::options<std::conditional_t<World::on_gpus, dv::machine::h200_nvlink, worlds::two_cores<Ranks>>, dv::assumed_width<Ranks>>;

// A training, or a part of it: from the file `resume`, or from the beginning, to the end of an epoch, and then to the file `save`.
struct stretch {
    int last_epoch = epochs;
    std::string resume = {}, save = {};  // paths; empty: none
};

struct outcome {
    std::vector<double> losses;  // one per epoch of the stretch
    double accuracy = 0;  // on the held-out digits, after the last epoch
};

template <int Ranks, class World>
outcome play(const digits::split& data, World make_world, const stretch& part = {}) {
    static_assert(batch % Ranks == 0 && digits::held_out_size % Ranks == 0, "all ranks have as many digits");
    using training = train<batch / Ranks>;
    using evaluation = evaluate<digits::held_out_size / Ranks>;
    using options = plan_options<Ranks, World>;
    outcome result;
    // The steps of the last epoch
    std::vector<observe::measured_run> runs(steps_of_epoch, {0, std::vector<observe::measured_rank>(Ranks)});
    auto world = make_world(Ranks);
    std::printf("\n%d rank%s; %s\n", Ranks, Ranks > 1 ? "s" : "", world.links().c_str());
    world.run([&](auto& rank) {
        dv::store store{rank};  // both executors see the same weights
        dv::executor<training, options> step{rank, store};
        dv::executor<evaluation, options> test{rank, store};
        const int index = rank.index();
        step.bind(dv::name<rate>, 0.1f);

        constexpr int share = digits::held_out_size / Ranks;
        const digits::set held_out = data.held_out.take(digits::in_order(digits::held_out_size), index * share, share);
        test.bind(dv::name<activation<0>>, held_out.images).bind(dv::name<labels>, held_out.labels);

        int epoch = 0;
        if (!part.resume.empty())  // the states are replicated: one file serves all ranks, however many
            epoch = words::noted(store.load(part.resume), "epochs", part.resume);
        for (; epoch < part.last_epoch; ++epoch) {
            const std::vector<int> order = digits::shuffled(digits::training_size, static_cast<std::uint64_t>(epoch) + 1);
            const bool last = epoch + 1 == part.last_epoch;
            step.record_times(last);
            double total = 0;
            for (int i = 0; i < steps_of_epoch; ++i) {
                const digits::set mine = data.training.take(order, i * batch + index * (batch / Ranks), batch / Ranks);
                step.bind(dv::name<activation<0>>, mine.images).bind(dv::name<labels>, mine.labels);
                const auto ticket = step.run();
                total += ticket.read(dv::name<mean_loss>)[0];
                if (last) runs[static_cast<std::size_t>(i)].ranks[static_cast<std::size_t>(index)] = {index, 0, ticket.times()};
            }
            const int count = test.run().read(dv::name<all_correct>)[0];
            if (index != 0) continue;
            result.losses.push_back(total / steps_of_epoch);
            result.accuracy = static_cast<double>(count) / digits::held_out_size;
            std::printf("  epoch %d: loss %.4f, held-out digits read right %.1f%%\n", epoch + 1, result.losses.back(),
                        100 * result.accuracy);
        }
        if (index == 0 && !part.save.empty()) store.save(part.save, {{"epochs", std::to_string(part.last_epoch)}});
    });
    reports::print<training, options>(runs);
    return result;
}

// Whether a training on two ranks that stops half-way and is resumed from a file has the losses of one that does not stop.
template <class World>
bool resumes(const digits::split& data, World make_world, const outcome& whole) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / ("digits." + std::to_string(::getpid()) + ".safetensors");
    outcome parts = play<2>(data, make_world, {.last_epoch = epochs / 2, .save = file});
    std::printf("\nresumed from %s", file.c_str());
    const outcome rest = play<2>(data, make_world, {.resume = file});
    std::filesystem::remove(file);
    parts.losses.insert(parts.losses.end(), rest.losses.begin(), rest.losses.end());
    return parts.losses == whole.losses && rest.accuracy == whole.accuracy;
}

template <class World>
int compare(const digits::split& data, World make_world) {
    const outcome by_ranks[] = {play<1>(data, make_world), play<2>(data, make_world), play<4>(data, make_world)};
    bool good = true;
    for (const outcome& o : by_ranks) {
        good = good && o.accuracy >= 0.95;
        // Sums over different numbers of ranks round differently, and training amplifies the differences.
        for (int e = 0; e < epochs; ++e)
            good = good && std::abs(o.losses[e] - by_ranks[0].losses[e]) <= 0.02 * by_ranks[0].losses[e] + 1e-3;
    }
    std::printf("\n%s: the same loss on 1, 2 and 4 ranks up to rounding, and at least 95%% of the held-out digits\n",
                good ? "as it should be" : "FAILED");
    const bool resumed = resumes(data, make_world, by_ranks[1]);
    std::printf("\n%s: the same losses when resumed, bit by bit\n", resumed ? "as it should be" : "FAILED");
    good = good && resumed;
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
}  // namespace app

int main(int count, char** arguments) {
    std::string file = digits::default_path();
    const dv::host::link link{worlds::link_latency, static_cast<double>(worlds::link_bandwidth)};
    return worlds::choose(count, arguments, {.file = &file}, link, [&](auto make_world) {
        return app::compare(digits::load(file), make_world);
    });
}
