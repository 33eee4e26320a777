// A training step of the small GPT-2, by the graph of examples/04_transformer.cpp with other sizes: twelve layers of 768, heads of 64, a
// vocabulary of 50304, sequences of 1024 tokens, eight of them a GPU, and a tied head: 124 million weights of bfloat16 with masters of
// float, AdamW with clipping. Data parallel on 1, 2 and 4 GPUs of one process; on several on one stream, overlapped, and with the rewrites
// that the planner chooses, in turn. Attention is cuDNN's where that is to be had (WITH_CUDNN), with one variant of it by products. Prints
// tokens per second and where the time goes by operation. gpt2.py is the same model in PyTorch.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/cuda/world.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/observe/report.hpp>
#include <dovetail/ops/ops.hpp>

#include "../../examples/gpt.hpp"

#include "bench/measure.hpp"
#include "bench/timed_runs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>

#if !defined(BENCH_MACHINE)
#define BENCH_MACHINE dv::machine::h200_nvlink
#endif

namespace dv = dovetail;

namespace {

constexpr int repeats = 9;
constexpr int steps = 4;  // of a measurement, one behind the other

#if defined(WITH_CUDNN)
constexpr bool cudnn = true;
#else
constexpr bool cudnn = false;
#endif

template <int Lanes, bool Fused>
struct gpt2 {
    using element = dv::bfloat16;
    static constexpr int layers = 12;
    static constexpr int size = 768;
    static constexpr int head_size = 64;
    static constexpr int vocabulary = 50304;  // 50257, and some that are never used, so that it is a multiple of 128
    static constexpr int length = 1024;
    static constexpr int sequences = 8 * Lanes;
    static constexpr int deviation = 50;
    static constexpr bool tied_head = true;
    static constexpr bool fused_attention = Fused;
    static constexpr bool sequence_parallel = false;
    static constexpr bool sharded_update = false;
};
template <int Lanes, bool Fused> using model = gpt::model<gpt2<Lanes, Fused>>;
template <int Lanes, bool Fused> using training = typename model<Lanes, Fused>::template train<Lanes, 1>;
template <int Lanes> constexpr int tokens_of_rank = gpt2<Lanes, cudnn>::sequences / Lanes * gpt2<Lanes, cudnn>::length;

using one_stream = dv::options<BENCH_MACHINE, dv::overlap<false>>;
using overlapped = dv::options<BENCH_MACHINE>;
using rewritten = dv::options<BENCH_MACHINE, dv::rewritten_by<dv::rewrite::automatic>, dv::collective_transport<dv::transport::automatic>>;

// Random tokens, another batch on each rank, in the memory of its GPU.
class batch {
public:
    batch(int rank, int count) : count_{count} {
        std::vector<std::int32_t> positions(static_cast<std::size_t>(count)), all(static_cast<std::size_t>(count) + 1);
        for (int i = 0; i < count; ++i) positions[static_cast<std::size_t>(i)] = i % gpt2<1, cudnn>::length;
        for (int i = 0; i <= count; ++i)
            all[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(dv::ops_detail::random_bits(200 + rank, i) % 50257);
        inputs_ = on_device(all.data());
        targets_ = on_device(all.data() + 1);
        positions_ = on_device(positions.data());
    }
    batch(const batch&) = delete;
    ~batch() {
        for (std::int32_t* p : {inputs_, targets_, positions_}) static_cast<void>(cudaFree(p));
    }
    template <class Executor>
    void bind(Executor& step) const {
        step.bind(dv::name<gpt::tokens>, dv::device_pointer{inputs_, count_});
        step.bind(dv::name<gpt::targets>, dv::device_pointer{targets_, count_});
        step.bind(dv::name<gpt::positions>, dv::device_pointer{positions_, count_});
        step.bind(dv::name<gpt::rate>, 1e-4f).bind(dv::name<gpt::limit>, 1.0f).bind(dv::name<gpt::share>, 1.0f);
    }

private:
    std::int32_t* on_device(const std::int32_t* from) const {
        void* p = nullptr;
        const std::size_t bytes = static_cast<std::size_t>(count_) * sizeof *from;
        bench::must(cudaMalloc(&p, bytes));
        bench::must(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice));
        return static_cast<std::int32_t*>(p);
    }

    const int count_;
    std::int32_t *inputs_ = nullptr, *targets_ = nullptr, *positions_ = nullptr;
};

// One way of planning the step, with weights of its own.
struct variant {
    std::string name;
    double predicted = 0;  // milliseconds
    std::function<void(int)> step;
    std::function<void()> wait;
    std::function<float()> last_loss;
    std::function<void(bench::timed_runs&, bench::meeting&)> time_steps;
    std::function<void(const bench::timed_runs&)> print_operations;
    std::vector<double> milliseconds = {};  // of a step
    float loss = 0;                         // of the last one
};

template <int Lanes, class Options, bool Fused = cudnn, class Rank>
variant planned(const char* name, Rank& rank, const batch& b) {
    using graph = training<Lanes, Fused>;
    using executor = dv::executor<graph, Options>;
    const auto store = std::make_shared<dv::store>(rank);
    const auto step = std::make_shared<executor>(rank, *store);
    gpt::first_weights<model<Lanes, Fused>, 1>{*store, {0, rank.index(), 0}}.template write<1>();
    b.bind(*step);
    bench::must(step->transport_fallback_reason().empty(), "what the plan's transports need");
    const auto last = std::make_shared<dv::ticket<graph>>();
    const auto time_steps = [=, index = rank.index()](bench::timed_runs& to, bench::meeting& meet) {
        for (int run = -2; run < bench::timed_run_count; ++run) {
            meet();
            step->record_times(true);
            const auto ticket = step->bind(dv::name<gpt::step>, run + 1000).run();
            if (const auto times = ticket.times(); run >= 0)
                to[static_cast<std::size_t>(run)].ranks[static_cast<std::size_t>(index)] = {index, 0, times};
        }
        step->record_times(false);
    };
    const auto print_operations = [name](const bench::timed_runs& runs) {
        const dv::observe::plan_view of{dv::observe::tables_of<graph, Options>()};
        bench::print_by_operation(name, of, bench::middle(of, runs));
    };
    return {name,
            static_cast<double>(dv::predicted_time<graph, Options>) / 1e9,
            [=](int i) { *last = step->bind(dv::name<gpt::step>, i).run(); },
            [=] { last->wait(); },
            [=, keep = store] { return last->read(dv::name<gpt::mean_loss>)[0]; },
            time_steps,
            print_operations};
}

template <int Lanes>
void play() {
    if (bench::gpus() < Lanes) return static_cast<void>(std::printf("skipped: %d GPUs\n", Lanes));
    bench::meeting meet{Lanes};
    std::vector<bench::timed_runs> timed;
    const auto measure = [&](auto& rank) {
        bench::must(cudaSetDevice(rank.index()));
        const batch b{rank.index(), tokens_of_rank<Lanes>};
        std::vector<variant> all;
        all.push_back(planned<Lanes, overlapped>("overlapped", rank, b));
        if constexpr (cudnn) all.push_back(planned<Lanes, overlapped, false>("attention by products", rank, b));
        if constexpr (Lanes > 1) {
            all.push_back(planned<Lanes, one_stream>("one stream", rank, b));
            all.push_back(planned<Lanes, rewritten>("with rewrites", rank, b));
        }
        int done = 0;
        for (int repeat = -2; repeat < repeats; ++repeat, done += steps)  // the first ones warm up
            for (variant& v : all) {
                bench::must(cudaDeviceSynchronize());
                meet();
                const auto start = bench::clock::now();
                for (int i = 1; i <= steps; ++i) v.step(done + i);
                v.wait();
                if (repeat >= 0)
                    v.milliseconds.push_back(std::chrono::duration<double, std::milli>(bench::clock::now() - start).count() / steps);
                meet();
            }
        for (variant& v : all) v.loss = v.last_loss();
        const float wanted = all[0].loss;
        for (const variant& v : all) bench::must(std::isfinite(wanted) && std::abs(v.loss - wanted) <= 2e-2f * wanted, "equal losses");
        if (rank.index() == 0) timed.assign(all.size(), bench::empty_runs(Lanes));
        meet();
        for (std::size_t i = 0; i < all.size(); ++i) all[i].time_steps(timed[i], meet);
        meet();
        if (rank.index() != 0) return;
        std::printf("%d GPU%s, %d tokens a step\n", Lanes, Lanes > 1 ? "s" : "", Lanes * tokens_of_rank<Lanes>);
        for (const variant& v : all)
            std::printf("  %-21s %8.2f ms a step, predicted %8.2f; %8.0f tokens per second, loss %.4f\n", v.name.c_str(),
                        bench::median(v.milliseconds), v.predicted, 1e3 * Lanes * tokens_of_rank<Lanes> / bench::median(v.milliseconds),
                        static_cast<double>(v.loss));
        for (std::size_t i = 0; i < all.size(); ++i) all[i].print_operations(timed[i]);
        std::fflush(stdout);
    };
    dv::cuda::world::local(Lanes).run([&](auto& rank) { bench::must_end([&] { measure(rank); }); });
}
}  // namespace

TEST_CASE("GPT-2 on one GPU") { play<1>(); }
TEST_CASE("GPT-2 on two GPUs") { play<2>(); }
TEST_CASE("GPT-2 on four GPUs") { play<4>(); }
