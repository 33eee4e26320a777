// Pipelines of two and four stages and eight micro-batches on as many GPUs, forward and backward: each stage has four layers, of a product
// forward and two backward. The time of a run beside what the schedule's bubble leaves: by theory, eight micro-batches on p stages take
// (8 + p - 1) / 8 of the time that one stage alone takes for them (1F1B, GPipe). Also by hand (pipelines_by_hand.hpp). Medians, variants
// in turn.
#include <dovetail/dovetail.hpp>

#include "bench/pipelines_by_hand.hpp"
#include "bench/planned_variants.hpp"

#include <doctest/doctest.h>

#if !defined(BENCH_MACHINE)
#define BENCH_MACHINE dv::machine::h200_nvlink
#endif

namespace dv = dovetail;

namespace {
namespace app {
using namespace dv::ops;

template <int> struct stage;
template <int> struct weight;
template <int> struct gradient;
template <int, int> struct x;      // what goes into a layer, of a micro-batch
template <int, int> struct slope;  // of that

using real = dv::half;
constexpr std::int64_t tokens = bench::stage_by_hand::tokens, width = bench::stage_by_hand::width;
constexpr int micro_batches = bench::stage_by_hand::micro_batches;
using activations = dv::tensor<real, tokens, width>;

template <int L> using states_of = dv::group<dv::state<weight<L>, dv::tensor<real, width, width>, normal_init<L, 1, 64>>,
                                             dv::state<gradient<L>, dv::tensor<real, width, width>>>;
template <int L, int M> using layer_forward = dv::let<x<L + 1, M>, matmul(x<L, M>, weight<L>)>;
template <int L, int M> using layer_backward = dv::group<
    dv::let<slope<L, M>, matmul_nt(slope<L + 1, M>, weight<L>)>,
    dv::when<M == 0, dv::update<gradient<L>, matmul_tn(x<L, M>, slope<L + 1, M>)>>,
    dv::when<(M > 0), dv::update<gradient<L>, add_matmul_tn(gradient<L>, x<L, M>, slope<L + 1, M>)>>>;

template <int Stages>
struct model {
    template <int S> using states = dv::on<stage<S>, states_of<4 * S>, states_of<4 * S + 1>, states_of<4 * S + 2>, states_of<4 * S + 3>>;
    template <int S, int M> using forward = dv::group<layer_forward<4 * S, M>, layer_forward<4 * S + 1, M>, layer_forward<4 * S + 2, M>,
                                                      layer_forward<4 * S + 3, M>>;
    // The last stage begins its backward pass from its own result.
    template <int S, int M> using backward = dv::group<
        dv::when<S == Stages - 1, dv::let<slope<4 * S + 4, M>, relu(x<4 * S + 4, M>)>>,
        layer_backward<4 * S + 3, M>, layer_backward<4 * S + 2, M>, layer_backward<4 * S + 1, M>, layer_backward<4 * S, M>>;
    template <int M> using batch = dv::input<x<0, M>, activations>;
};
template <int Stages, class Schedule>
struct training : dv::graph<
    dv::repeat<model<Stages>::template batch, micro_batches>, dv::repeat<model<Stages>::template states, Stages>,
    dv::pipeline<Stages, micro_batches, Schedule, stage, model<Stages>::template forward, model<Stages>::template backward>,
    dv::output<dv::all<dv::counts<1, micro_batches>, slope>>> {};

template <class... O> using plan = dv::options<BENCH_MACHINE, dv::force_candidate<dv::candidate::written>, O...>;
using by_nccl = plan<dv::channel_transport<dv::transport::nccl>>;
using by_copies = plan<dv::channel_transport<dv::transport::peer_copy>>;
using as_planned = dv::options<BENCH_MACHINE>;
}  // namespace app

using bench::variant;

template <class Step, int... M>
void bind(Step& step, const bench::normal_halves& in, std::integer_sequence<int, M...>) {
    (step.bind(dv::name<app::x<0, M>>, in.bound()), ...);
}

// The first one is one stage alone, with which the others are compared.
void print(int stages, const std::vector<variant>& all) {
    std::printf("pipeline of %d stages and %d micro-batches, %d GPUs\n", stages, app::micro_batches, stages);
    const double alone = bench::median(all[0].milliseconds), bubble = alone * (stages - 1) / app::micro_batches;
    for (const variant& v : all) {
        const double time = bench::median(v.milliseconds);
        std::printf("  %-28s %8.3f ms, %5.3f of one stage and the bubble of theory", v.name.c_str(), time, time / (alone + bubble));
        if (&v != &all[0]) std::printf(", bubble %5.3f of it", (time - alone) / bubble);
        if (v.predicted != 0) std::printf("; predicted %8.3f ms, %+5.1f%%", v.predicted, 100 * (v.predicted / time - 1));
        std::printf("\n");
    }
    std::fflush(stdout);
}

template <int Stages>
void measure() {
    if (bench::gpus() < Stages) return static_cast<void>(std::printf("pipeline of %d stages: skipped, it takes as many GPUs\n", Stages));
    bench::shared_by_hand shared{Stages};
    ncclUniqueId ids[2];
    for (ncclUniqueId& id : ids) bench::must(ncclGetUniqueId(&id));
    bench::meeting meet{Stages};
    dv::cuda::world::local(Stages).run([&](auto& rank) {
        bench::must(cudaSetDevice(rank.index()));
        const bench::normal_halves in{app::tokens * app::width, 1, 1.0f}, weight{app::width * app::width, 2, 1.0f / 64};
        const auto bind_all = [&](auto& step) { bind(step, in, std::make_integer_sequence<int, app::micro_batches>{}); };
        bench::stage_by_hand hand{shared, rank.index(), ids, in.data(), weight.data(), meet};
        bench::shared_by_hand nothing_shared{1};
        bench::meeting nobody{1};
        ncclUniqueId own_ids[2];
        for (ncclUniqueId& id : own_ids) bench::must(ncclGetUniqueId(&id));
        bench::stage_by_hand alone{nothing_shared, 0, own_ids, in.data(), weight.data(), nobody};
        const auto by_hand = [](bench::stage_by_hand& stage, const char* name, bool by_nccl) {
            return variant{name, [&stage, by_nccl] { stage.run(by_nccl); }, [&stage] { stage.wait(); }};
        };
        using one_f_one_b = app::training<Stages, dv::one_f_one_b>;
        using gpipe = app::training<Stages, dv::gpipe>;
        std::vector<variant> all{by_hand(alone, "one stage alone, by hand", false),
                                 by_hand(hand, "1F1B by hand, NCCL", true),
                                 by_hand(hand, "1F1B by hand, copy engines", false),
                                 bench::planned<one_f_one_b, app::by_nccl>(rank, "1F1B, NCCL", bind_all),
                                 bench::planned<one_f_one_b, app::by_copies>(rank, "1F1B, copy engines", bind_all),
                                 bench::planned<gpipe, app::by_copies>(rank, "GPipe, copy engines", bind_all),
                                 bench::planned<one_f_one_b, app::as_planned>(rank, "1F1B statements, as planned", bind_all)};
        bench::time_in_turn(all, meet, 15);
        if (rank.index() == 0) print(Stages, all);
        meet();
    });
}
}  // namespace

TEST_CASE("two stages") { measure<2>(); }
TEST_CASE("four stages") { measure<4>(); }
