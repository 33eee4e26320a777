// Data-parallel training of a network by the graph template of examples/02_digits with other sizes: eight layers, alternately 4096 to
// 16384 and back, in bfloat16, 4096 rows a GPU, softmax over 4096 classes, momentum. On 1, 2 and 4 GPUs of one process: dovetail with
// overlap off and on, on streams and as a CUDA graph, and with dv::tuned, beside the same kernels and NCCL calls written by hand on two
// streams, in turn. Prints times of a step and how much of the communication is hidden, by the overlap report of runs whose steps were
// timed. training.py is the same network under PyTorch's DistributedDataParallel.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/cuda/api/services.hpp>
#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/observe/report.hpp>
#include <dovetail/ops/ops.hpp>

#include "bench/measure.hpp"
#include "bench/timed_runs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace dv = dovetail;

namespace {
namespace app {
using namespace dv::ops;

struct dp;
struct labels;
struct rate;
struct loss;
struct mean_loss;
struct probabilities;
template <int> struct activation;
template <int> struct gradient;
template <int> struct weight;
template <int> struct bias;
template <int> struct weight_velocity;
template <int> struct bias_velocity;
template <int> struct gradient_of_weight;
template <int> struct gradient_of_bias;
template <int> struct mean_gradient_of_weight;
template <int> struct mean_gradient_of_bias;

using real = dv::bfloat16;
constexpr int layers = 8;
constexpr int rows = 4096;  // of each GPU
constexpr int width(int layer) { return layer % 2 == 0 ? 4096 : 16384; }
constexpr int deviation(int layer) { return layer % 2 == 0 ? 45 : 90; }  // one over it, by which activations keep their size
constexpr int classes = width(layers);

template <int L> using weights = dv::tensor<real, width(L), width(L + 1)>;
template <int L> using biases = dv::tensor<real, width(L + 1)>;

template <int L> using parameters = dv::group<
    dv::state<weight<L>, weights<L>, normal_init<L + 1, 1, deviation(L)>, dv::replicated<dp>>,
    dv::state<bias<L>, biases<L>, zeros, dv::replicated<dp>>>;

template <int L> using velocities = dv::group<
    dv::state<weight_velocity<L>, weights<L>, zeros, dv::replicated<dp>>,
    dv::state<bias_velocity<L>, biases<L>, zeros, dv::replicated<dp>>>;

template <int L> using hidden_layer = dv::let<activation<L + 1>, relu(bias_add(matmul(activation<L>, weight<L>), bias<L>))>;

using forward = dv::group<
    dv::repeat<hidden_layer, layers - 1>,
    dv::let<activation<layers>, bias_add(matmul(activation<layers - 1>, weight<layers - 1>), bias<layers - 1>)>>;

template <int L> using gradient_through = dv::let<gradient<L>, relu_gradient(matmul_nt(gradient<L + 1>, weight<L + 1>), activation<L + 1>)>;

template <int L> using gradients_of_parameters = dv::group<
    dv::let<gradient_of_weight<L>, matmul_tn(activation<L>, gradient<L>)>,
    dv::let<gradient_of_bias<L>, bias_gradient(gradient<L>)>>;

template <int L> using mean_gradients = dv::group<
    dv::let<mean_gradient_of_weight<L>, all_reduce<average, dp>(gradient_of_weight<L>)>,
    dv::let<mean_gradient_of_bias<L>, all_reduce<average, dp>(gradient_of_bias<L>)>>;

// The last layer first: its means are under way while the gradients of those before are made.
template <int I> using backward_layer =
    dv::group<gradients_of_parameters<layers - 1 - I>, mean_gradients<layers - 1 - I>, gradient_through<layers - 2 - I>>;

template <int L> using update_layer = dv::group<
    dv::update<dv::values<weight<L>, weight_velocity<L>>,
               sgd_momentum<9, 10>(weight<L>, weight_velocity<L>, mean_gradient_of_weight<L>, rate)>,
    dv::update<dv::values<bias<L>, bias_velocity<L>>, sgd_momentum<9, 10>(bias<L>, bias_velocity<L>, mean_gradient_of_bias<L>, rate)>>;

template <int I> using update_from_last = update_layer<layers - 1 - I>;

// Along an axis whose width is the world's, or is given: reductions by copy engines need a given one.
template <class Axis>
struct train_along : dv::graph<
    dv::mesh<Axis>,
    dv::input<activation<0>, dv::tensor<real, rows, width(0)>>,
    dv::input<labels, dv::tensor<std::int32_t, rows>>,
    dv::input<rate, dv::scalar<float>, dv::replicated<dp>>,
    dv::repeat<parameters, layers>, dv::repeat<velocities, layers>,
    forward,
    dv::let<dv::values<loss, probabilities>, softmax_cross_entropy(activation<layers>, labels)>,
    dv::let<mean_loss, all_reduce<average, dp>(loss)>,
    dv::let<gradient<layers - 1>, softmax_cross_entropy_gradient(probabilities, labels)>,
    dv::repeat<backward_layer, layers - 1>, gradients_of_parameters<0>, mean_gradients<0>,
    dv::repeat<update_from_last, layers>,
    dv::output<mean_loss>> {};
using train = train_along<dv::axis<dp>>;
template <int Lanes> using train_on = train_along<dv::axis<dp, Lanes>>;

template <int Lanes> using on  = dv::options<dv::machine::h200_nvlink, dv::assumed_width<Lanes>>;
template <int Lanes> using off = dv::options<dv::machine::h200_nvlink, dv::assumed_width<Lanes>, dv::overlap<false>>;
template <int Lanes> using automatic =
    dv::options<dv::machine::h200_nvlink, dv::rewritten_by<dv::rewrite::automatic>, dv::collective_transport<dv::transport::automatic>>;
}  // namespace app

namespace kernels = dv::kernels;
using app::real;
constexpr int repeats = 9;
constexpr int steps = 4;  // of a measurement, one behind the other
constexpr int warm_ups = 1, steps_compared = (warm_ups + repeats) * steps;
constexpr float learning_rate = 1e-4f;

template <class T>
T* on_device(std::int64_t count) {
    T* p = nullptr;
    bench::must(cudaMalloc(reinterpret_cast<void**>(&p), static_cast<std::size_t>(count) * sizeof(T)));
    return p;
}

struct batch {
    real* images = on_device<real>(std::int64_t{app::rows} * app::width(0));
    std::int32_t* labels = on_device<std::int32_t>(app::rows);
    float* rate = on_device<float>(1);

    explicit batch(int rank) {
        kernels::generate(dv::cuda::stream{.services = &dv::cuda::services}, std::int64_t{app::rows} * app::width(0), images,
                          dv::ops_detail::normally_distributed{100 + rank, 1.0f});
        std::vector<std::int32_t> l(app::rows);
        for (int i = 0; i < app::rows; ++i)
            l[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(dv::ops_detail::random_bits(200 + rank, i) % app::classes);
        bench::must(cudaMemcpy(labels, l.data(), l.size() * sizeof l[0], cudaMemcpyHostToDevice));
        bench::must(cudaMemcpy(rate, &learning_rate, sizeof learning_rate, cudaMemcpyHostToDevice));
    }
    ~batch() {
        for (void* p : {static_cast<void*>(images), static_cast<void*>(labels), static_cast<void*>(rate)}) static_cast<void>(cudaFree(p));
    }
};

// The same step by hand: the library's own kernels, the means of gradients on a second stream as soon as they are made, each
// update behind its mean when the backward pass is done.
class by_hand {
public:
    by_hand(int ranks, int rank, const ncclUniqueId& id, const batch& b, bench::meeting& meet)
        : ranks_{ranks}, batch_{b}, blas_{bench::product_handle()} {
        int low = 0, high = 0;
        bench::must(cudaDeviceGetStreamPriorityRange(&low, &high));
        bench::must(cudaStreamCreateWithPriority(&compute_, cudaStreamNonBlocking, low));
        bench::must(cudaStreamCreateWithPriority(&means_, cudaStreamNonBlocking, high));
        bench::must(cublasSetStream(blas_, compute_));
        on_.handle = compute_;
        on_.blas = blas_;
        on_.services = &dv::cuda::services;
        for (cudaEvent_t* e : {&begin_, &made_, &lost_}) bench::must(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
        activation_[0] = batch_.images;
        for (int l = 0; l < app::layers; ++l) {
            bench::must(cudaEventCreateWithFlags(&mean_[l], cudaEventDisableTiming));
            const std::int64_t n = size(l), columns = app::width(l + 1);
            activation_[l + 1] = on_device<real>(app::rows * columns);
            gradient_[l] = on_device<real>(app::rows * columns);
            for (real** p : {&weight_[l], &weight_velocity_[l], &gradient_of_weight_[l]}) *p = on_device<real>(n);
            for (real** p : {&bias_[l], &bias_velocity_[l], &gradient_of_bias_[l]}) *p = on_device<real>(columns);
            kernels::generate(on_, n, weight_[l],
                              dv::ops_detail::normally_distributed{l + 1, 1.0f / static_cast<float>(app::deviation(l))});
            bench::must(cudaMemsetAsync(weight_velocity_[l], 0, static_cast<std::size_t>(n) * sizeof(real), compute_));
            for (real* p : {bias_[l], bias_velocity_[l]})
                bench::must(cudaMemsetAsync(p, 0, static_cast<std::size_t>(columns) * sizeof(real), compute_));
        }
        probabilities_ = on_device<real>(std::int64_t{app::rows} * app::classes);
        losses_ = on_device<float>(app::rows);
        loss_ = on_device<float>(1);
        on_.workspace = losses_;
        on_.workspace_bytes = app::rows * static_cast<std::int64_t>(sizeof(float));
        bench::must(cudaDeviceSynchronize());
        meet();
        bench::must(ncclCommInitRank(&comm_, ranks, id, rank));
    }
    ~by_hand() {
        bench::must(cudaDeviceSynchronize());
        if (graph_ != nullptr) bench::must(cudaGraphExecDestroy(graph_));
        bench::must(ncclCommDestroy(comm_));
        for (int l = 0; l < app::layers; ++l)
            for (void* p : {activation_[l + 1], gradient_[l], weight_[l], weight_velocity_[l], gradient_of_weight_[l], bias_[l],
                            bias_velocity_[l], gradient_of_bias_[l]})
                static_cast<void>(cudaFree(p));
        for (void* p : {static_cast<void*>(probabilities_), static_cast<void*>(losses_), static_cast<void*>(loss_)})
            static_cast<void>(cudaFree(p));
    }

    void step() {
        using namespace dv::ops_detail;
        constexpr int last = app::layers - 1;
        using operand = kernels::operand<real, false>;
        if (ranks_ > 1) join(means_, begin_, compute_);
        for (int l = 0; l <= last; ++l) {
            real* const y = activation_[l + 1];
            const std::int64_t columns = app::width(l + 1);
            kernels::gemm<false, false>(on_, app::rows, columns, app::width(l), activation_[l], weight_[l], y);
            kernels::add_to_rows(on_, app::rows, columns, y, bias_[l], y);
            if (l < last) kernels::transform<positive_part>(on_, app::rows * columns, y, operand{y});
        }
        kernels::softmax_cross_entropy(on_, app::rows, app::classes, activation_[app::layers], batch_.labels, probabilities_, loss_,
                                       losses_);
        mean(loss_, 1, ncclFloat, lost_);
        kernels::softmax_cross_entropy_gradient(on_, app::rows, app::classes, probabilities_, batch_.labels, gradient_[last]);
        for (int l = last; l >= 0; --l) {
            kernels::gemm<true, false>(on_, app::width(l), app::width(l + 1), app::rows, activation_[l], gradient_[l],
                                       gradient_of_weight_[l]);
            kernels::sum_of_rows(on_, app::rows, app::width(l + 1), gradient_[l], gradient_of_bias_[l]);
            mean(gradient_of_weight_[l], size(l), ncclBfloat16, mean_[l]);
            mean(gradient_of_bias_[l], app::width(l + 1), ncclBfloat16, mean_[l]);
            if (l == 0) break;
            kernels::gemm<false, true>(on_, app::rows, app::width(l), app::width(l + 1), gradient_[l], weight_[l], gradient_[l - 1]);
            kernels::transform<where_positive>(on_, std::int64_t{app::rows} * app::width(l), gradient_[l - 1], operand{gradient_[l - 1]},
                                               operand{activation_[l]});
        }
        const kernels::floating_scalar rate{batch_.rate, dv::element::float32};
        for (int l = last; l >= 0; --l) {
            if (ranks_ > 1) bench::must(cudaStreamWaitEvent(compute_, mean_[l], 0));
            kernels::descend_with_momentum(on_, size(l), weight_[l], weight_velocity_[l], gradient_of_weight_[l], rate, 0.9f);
            kernels::descend_with_momentum(on_, app::width(l + 1), bias_[l], bias_velocity_[l], gradient_of_bias_[l], rate, 0.9f);
        }
    }
    // The same as a CUDA graph, captured at the second call: the first connects the ranks.
    void replay() {
        if (!std::exchange(connected_, true)) return step();
        if (graph_ == nullptr) {
            cudaGraph_t captured{};
            bench::must(cudaStreamBeginCapture(compute_, cudaStreamCaptureModeThreadLocal));
            step();
            bench::must(cudaStreamEndCapture(compute_, &captured));
            bench::must(cudaGraphInstantiateWithFlags(&graph_, captured, cudaGraphInstantiateFlagUseNodePriority));
            bench::must(cudaGraphDestroy(captured));
        }
        bench::must(cudaGraphLaunch(graph_, compute_));
    }
    void wait() const { bench::must(cudaStreamSynchronize(compute_)); }
    float loss() const {
        float x = 0;
        bench::must(cudaMemcpy(&x, loss_, sizeof x, cudaMemcpyDeviceToHost));
        return x;
    }

private:
    static std::int64_t size(int l) { return std::int64_t{app::width(l)} * app::width(l + 1); }
    static void join(cudaStream_t after, cudaEvent_t e, cudaStream_t before) {
        bench::must(cudaEventRecord(e, before));
        bench::must(cudaStreamWaitEvent(after, e, 0));
    }
    template <class T>
    void mean(T* at, std::int64_t count, ncclDataType_t type, cudaEvent_t done) {
        if (ranks_ == 1) return;
        join(means_, made_, compute_);
        bench::must(ncclAllReduce(at, at, static_cast<std::size_t>(count), type, ncclAvg, comm_, means_));
        bench::must(cudaEventRecord(done, means_));
    }

    const int ranks_;
    const batch& batch_;
    cublasHandle_t blas_;
    ncclComm_t comm_{};
    cudaStream_t compute_{}, means_{};
    cudaEvent_t begin_{}, made_{}, lost_{}, mean_[app::layers]{};
    cudaGraphExec_t graph_ = nullptr;
    bool connected_ = false;
    dv::cuda::stream on_;
    real *activation_[app::layers + 1]{}, *gradient_[app::layers]{}, *weight_[app::layers]{}, *weight_velocity_[app::layers]{},
        *gradient_of_weight_[app::layers]{};
    real *bias_[app::layers]{}, *bias_velocity_[app::layers]{}, *gradient_of_bias_[app::layers]{}, *probabilities_{};
    float *losses_{}, *loss_{};
};

struct variant {
    const char* name;
    std::function<void()> step, wait;
    std::function<float()> loss;            // after steps_compared
    std::vector<double> milliseconds = {};  // of a step
    std::string tuning = {};                // what dv::tuned reports
};

template <class Graph, class Options>
void bind(dv::executor<Graph, Options>& step, const batch& b) {
    step.bind(dv::name<app::activation<0>>, dv::device_pointer{b.images, std::int64_t{app::rows} * app::width(0)});
    step.bind(dv::name<app::labels>, dv::device_pointer{b.labels, app::rows}).bind(dv::name<app::rate>, dv::device_pointer{b.rate, 1});
}

template <class Options, class Graph = app::train, class Rank, class... Arguments>
variant planned(Rank& rank, const batch& b, const char* name, const Arguments&... arguments) {
    const auto step = std::make_shared<dv::executor<Graph, Options>>(rank, arguments...);
    bind(*step, b);
    const auto last = std::make_shared<dv::ticket<Graph>>();
    return {name, [=] { *last = step->run(); }, [=] { last->wait(); }, [=] { return last->read(dv::name<app::mean_loss>)[0]; }};
}

// With dv::tuned, which has decided when this returns: it has made more steps by then, so its loss is kept when it has made as many as the
// others will.
template <class Options, class Graph, class Rank>
variant tuned(Rank& rank, const batch& b) {
    const auto step = std::make_shared<dv::executor<Graph, Options>>(rank, dv::tuned);
    bind(*step, b);
    const auto last = std::make_shared<dv::ticket<Graph>>();
    const auto loss = std::make_shared<float>();
    const auto one = [=, made = 0]() mutable {
        *last = step->run();
        if (++made == steps_compared) *loss = last->read(dv::name<app::mean_loss>)[0];
    };
    variant v{"dovetail, tuned", one, [=] { last->wait(); }, [=] { return *loss; }};
    while (!step->tuning().decided()) v.step();
    v.tuning = step->tuning().text();
    return v;
}

using bench::timed_run_count;
using timed = bench::timed_runs;

template <class Options, class Graph = app::train, class Rank>
void time_steps(Rank& rank, const batch& b, timed& to, bench::meeting& meet) {
    dv::executor<Graph, Options> step{rank, dv::record_times};
    bind(step, b);
    for (int run = -2; run < timed_run_count; ++run) {
        meet();
        const auto ticket = step.run();
        if (const auto times = ticket.times(); run >= 0)
            to[static_cast<std::size_t>(run)].ranks[static_cast<std::size_t>(rank.index())] = {rank.index(), 0, times};
    }
    meet();
}

template <int Lanes>
void report(const timed& off, const timed& on, const timed& automatic) {
    const dv::observe::plan_view of{dv::observe::tables_of<app::train, app::on<Lanes>>()};
    const dv::observe::plan_view of_off{dv::observe::tables_of<app::train, app::off<Lanes>>()};
    const auto overlapped = bench::middle(of, on), sequential = bench::middle(of_off, off);
    if (Lanes > 1) {
        const auto x = dv::observe::overlap(of, overlapped, sequential).total;
        std::printf(
            "  overlap report, mean of the ranks: communication %.2f ms (%.2f without waiting for partners), beside computation %.2f ms, exposed %.2f ms\n",
            static_cast<double>(x.communication) / 1e9 / Lanes, static_cast<double>(x.communication_alone) / 1e9 / Lanes,
            static_cast<double>(x.both) / 1e9 / Lanes, static_cast<double>(x.exposed) / 1e9 / Lanes);
        std::printf(
            "  hidden: %.0f%% by intersection, %.0f%% by what stays exposed, %.0f%% by gain (%.2f ms in sequence, %.2f ms overlapped, with steps timed); predicted %.0f%%\n",
            100 * x.by_intersection(), 100 * x.by_exposed(), 100 * x.by_gain(), static_cast<double>(x.sequential) / 1e9,
            static_cast<double>(x.length) / 1e9, 100 * dv::hidden_fraction<app::train, app::on<Lanes>>);
    }
    bench::print_by_operation("overlap off", of_off, sequential);
    bench::print_by_operation("overlap on", of, overlapped);
    if (Lanes > 1) {
        const dv::observe::plan_view of_automatic{dv::observe::tables_of<app::train_on<Lanes>, app::automatic<Lanes>>()};
        bench::print_by_operation("automatic", of_automatic, bench::middle(of_automatic, automatic));
    }
    if (Lanes == 4) std::fputs(dv::observe::report_text(of, dv::observe::overlap(of, overlapped, sequential), 1).c_str(), stdout);
    std::fflush(stdout);
}

template <int Lanes>
void play() {
    if (bench::gpus() < Lanes) return static_cast<void>(std::printf("skipped: %d GPUs\n", Lanes));
    ncclUniqueId ids[2];
    for (ncclUniqueId& id : ids) bench::must(ncclGetUniqueId(&id));
    bench::meeting meet{Lanes};
    timed off = bench::empty_runs(Lanes), on = off, automatic = off;
    const auto measure = [&](auto& rank) {
        bench::must(cudaSetDevice(rank.index()));
        const batch b{rank.index()};
        by_hand hand{Lanes, rank.index(), ids[0], b, meet}, hand_replayed{Lanes, rank.index(), ids[1], b, meet};
        meet();
        std::vector<variant> all;
        all.push_back({"by hand, two streams", [&] { hand.step(); }, [&] { hand.wait(); }, [&] { return hand.loss(); }});
        all.push_back({"by hand, two streams, CUDA graph", [&] { hand_replayed.replay(); }, [&] { hand_replayed.wait(); },
                       [&] { return hand_replayed.loss(); }});
        all.push_back(planned<app::off<Lanes>>(rank, b, "dovetail, overlap off"));
        all.push_back(planned<app::on<Lanes>>(rank, b, "dovetail, overlap on"));
        all.push_back(planned<app::on<Lanes>>(rank, b, "dovetail, overlap on, CUDA graph", dv::replay));
        if constexpr (Lanes > 1) {
            all.push_back(planned<app::automatic<Lanes>, app::train_on<Lanes>>(rank, b, "dovetail, automatic"));
            all.push_back(planned<app::automatic<Lanes>, app::train_on<Lanes>>(rank, b, "dovetail, automatic, CUDA graph", dv::replay));
            all.push_back(tuned<app::automatic<Lanes>, app::train_on<Lanes>>(rank, b));
        }
        for (int repeat = -warm_ups; repeat < repeats; ++repeat)
            for (variant& v : all) {
                bench::must(cudaDeviceSynchronize());
                meet();
                const auto start = bench::clock::now();
                for (int i = 0; i < steps; ++i) v.step();
                v.wait();
                if (repeat >= 0)
                    v.milliseconds.push_back(std::chrono::duration<double, std::milli>(bench::clock::now() - start).count() / steps);
                meet();
            }
        if (rank.index() == 0) {
            std::printf("%d GPU%s; predicted step: overlap off %.2f ms, on %.2f ms, automatic %.2f ms\n", Lanes, Lanes > 1 ? "s" : "",
                        static_cast<double>(dv::predicted_time<app::train, app::off<Lanes>>) / 1e9,
                        static_cast<double>(dv::predicted_time<app::train, app::on<Lanes>>) / 1e9,
                        static_cast<double>(dv::predicted_time<app::train_on<Lanes>, app::automatic<Lanes>>) / 1e9);
            for (const variant& v : all)
                std::printf("  %-34s %8.3f ms a step, ratio to by hand %.3f, loss %.4f\n", v.name, bench::median(v.milliseconds),
                            bench::median(v.milliseconds) / bench::median(all[0].milliseconds), static_cast<double>(v.loss()));
            for (const variant& v : all) bench::print_tuning(v.name, v.tuning);
        }
        // Each the same weights, data and number of steps.
        const float wanted = all[0].loss();
        for (const variant& v : all) bench::must(std::isfinite(wanted) && std::abs(v.loss() - wanted) <= 2e-2f * wanted, "equal losses");
        meet();
        all.clear();
        time_steps<app::off<Lanes>>(rank, b, off, meet);
        time_steps<app::on<Lanes>>(rank, b, on, meet);
        if constexpr (Lanes > 1) time_steps<app::automatic<Lanes>, app::train_on<Lanes>>(rank, b, automatic, meet);
    };
    dv::cuda::world::local(Lanes).run([&](auto& rank) { bench::must_end([&] { measure(rank); }); });
    report<Lanes>(off, on, automatic);
}
}  // namespace

TEST_CASE("training on one GPU") { play<1>(); }
TEST_CASE("training on two GPUs") { play<2>(); }
TEST_CASE("training on four GPUs") { play<4>(); }
