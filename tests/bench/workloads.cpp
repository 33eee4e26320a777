// Communication beside computation on two GPUs, or four, of one process: the workloads for which dovetail chooses what moves each message.
// Each as everyone writes it with NCCL (one stream), by the planner with NCCL, with all collectives by copy engines, and as
// `rewrite::automatic` makes it of the graph as written, on streams and replayed; beside the same computations without communication and,
// for the chain and the gradients, the same by hand (workloads_by_hand.hpp). Medians, variants in turn. Prints for each the ratio to the
// computations alone, the part of the communication that is hidden, and the predicted time.
#include <dovetail/dovetail.hpp>
#include <dovetail/observe/observe.hpp>

#include "bench/planned_variants.hpp"
#include "bench/workloads_by_hand.hpp"

#include <doctest/doctest.h>

#if !defined(BENCH_MACHINE)
#define BENCH_MACHINE dv::machine::h200_nvlink
#endif

namespace dv = dovetail;

namespace {
namespace app {
using namespace dv::ops;

struct ranks;
struct given;
struct held;
struct gathered;
struct weight;
struct other_product;
template <int> struct x;
template <int> struct partial;
template <int> struct slope;
template <int> struct gradient;
template <int> struct mean;
template <int> struct shard;
template <int> struct full;
template <int> struct again;

using real = dv::half;
constexpr int layers = bench::by_hand::layers, gradients = bench::by_hand::gradients, fsdp_layers = 8;
constexpr std::int64_t side = bench::by_hand::side, hidden = bench::by_hand::hidden;
using square = dv::tensor<real, side, side>;
using tokens = dv::tensor<real, side, hidden>;
template <std::int64_t N, int Deviation> using weights = dv::state<weight, dv::tensor<real, N, N>, normal_init<1, 1, Deviation>>;
template <int Ranks> using over = dv::mesh<dv::axis<ranks, Ranks>>;

// Tensor parallelism: products of which each rank has a part of the sum.
template <int L> using layer = dv::group<
    dv::let<partial<L>, matmul(x<L>, weight)>,
    dv::let<x<L + 1>, all_reduce<sum, ranks>(partial<L>)>>;
template <int L> using product_alone = dv::let<x<L + 1>, matmul(x<L>, weight)>;
template <template <int> class Layer, int Ranks>
struct chain_of : dv::graph<over<Ranks>, dv::input<x<0>, square>, weights<side, 91>, dv::repeat<Layer, layers>, dv::output<x<layers>>> {};
template <int Ranks> struct chain : chain_of<layer, Ranks> {};
// The same with products that leave the sums four of 132 multiprocessors, and have as many waves.
struct matmul_on_128 : matmul { static constexpr int sms = 128; };
template <int L> using layer_on_128 = dv::group<
    dv::let<partial<L>, matmul_on_128(x<L>, weight)>,
    dv::let<x<L + 1>, all_reduce<sum, ranks>(partial<L>)>>;
template <int Ranks> struct chain_on_128 : chain_of<layer_on_128, Ranks> {};
template <int Ranks> struct chain_alone : chain_of<product_alone, Ranks> {};

// The backward pass of data parallelism: a gradient of weights for each layer, and its mean.
template <int L> using backward_alone = dv::group<
    dv::let<gradient<L>, matmul_tn(given, slope<L>)>,
    dv::let<slope<L + 1>, matmul_nt(slope<L>, weight)>>;
template <int L> using backward_layer = dv::group<backward_alone<L>, dv::let<mean<L>, all_reduce<average, ranks>(gradient<L>)>>;
template <template <int> class Layer, template <int> class Result, int Ranks>
struct backward_of : dv::graph<over<Ranks>, dv::input<given, tokens>, dv::input<slope<0>, tokens>, weights<hidden, 64>,
                               dv::repeat<Layer, gradients>, dv::output<slope<gradients>, dv::all<gradients, Result>>> {};
template <int Ranks> struct backward : backward_of<backward_layer, mean, Ranks> {};
struct matmul_tn_on_128 : matmul_tn { static constexpr int sms = 128; };
struct matmul_nt_on_128 : matmul_nt { static constexpr int sms = 128; };
template <int L> using backward_layer_on_128 = dv::group<
    dv::let<gradient<L>, matmul_tn_on_128(given, slope<L>)>,
    dv::let<slope<L + 1>, matmul_nt_on_128(slope<L>, weight)>,
    dv::let<mean<L>, all_reduce<average, ranks>(gradient<L>)>>;
template <int Ranks> struct backward_on_128 : backward_of<backward_layer_on_128, mean, Ranks> {};
template <int Ranks> struct backward_without : backward_of<backward_alone, gradient, Ranks> {};

// 64 MiB of each rank gathered beside a product.
template <int Ranks, class... Gather>
struct gather_of : dv::graph<over<Ranks>, dv::input<x<0>, square>, weights<side, 91>, Gather..., dv::let<x<1>, matmul(x<0>, weight)>,
                             dv::output<x<1>>> {};
template <int Ranks>
struct gather : gather_of<Ranks, dv::state<held, dv::tensor<real, side / 2, side>, constant<1>>,
                          dv::let<gathered, all_gather<ranks>(held)>, dv::output<gathered>> {};
template <int Ranks> struct gather_alone : gather_of<Ranks> {};

// Fully sharded: the weights of a layer are gathered for the forward and again for the backward pass, its gradients reduced and scattered.
template <int L> using sharded = dv::state<shard<L>, dv::tensor<real, hidden / 2, hidden>, normal_init<1, 1, 64>>;
template <int L> using forward = dv::group<dv::let<full<L>, all_gather<ranks>(shard<L>)>, dv::let<x<L + 1>, matmul(x<L>, full<L>)>>;
template <int I, int L> using backward_at = dv::group<
    dv::let<again<L>, all_gather<ranks>(shard<L>)>,
    dv::let<slope<I + 1>, matmul_nt(slope<I>, again<L>)>,
    dv::let<gradient<L>, matmul_tn(x<L>, slope<I>)>,
    dv::let<mean<L>, reduce_scatter<average, ranks>(gradient<L>)>>;
template <int I> using sharded_backward = backward_at<I, fsdp_layers - 1 - I>;
template <int L> using whole_weights = dv::state<full<L>, dv::tensor<real, hidden, hidden>, normal_init<1, 1, 64>>;
template <int L> using whole_forward = dv::let<x<L + 1>, matmul(x<L>, full<L>)>;
template <int I, int L> using whole_backward_at = dv::group<
    dv::let<slope<I + 1>, matmul_nt(slope<I>, full<L>)>,
    dv::let<gradient<L>, matmul_tn(x<L>, slope<I>)>>;
template <int I> using whole_backward = whole_backward_at<I, fsdp_layers - 1 - I>;
template <template <int> class State, template <int> class Forward, template <int> class Backward, template <int> class Result>
struct fsdp_of : dv::graph<over<2>, dv::input<x<0>, tokens>, dv::input<slope<0>, tokens>, dv::repeat<State, fsdp_layers>,
                           dv::repeat<Forward, fsdp_layers>, dv::repeat<Backward, fsdp_layers>,
                           dv::output<x<fsdp_layers>, slope<fsdp_layers>, dv::all<fsdp_layers, Result>>> {};
template <int> struct fsdp : fsdp_of<sharded, forward, sharded_backward, mean> {};
template <int> struct fsdp_alone : fsdp_of<whole_weights, whole_forward, whole_backward, gradient> {};

// A layer of experts: tokens to the rank of their expert, two products and back.
template <class... Statement>
struct experts_of : dv::graph<over<2>, dv::input<x<0>, tokens>, dv::state<weight, dv::tensor<real, hidden, side>, normal_init<1, 1, 64>>,
                              Statement...> {};
using both_products = dv::let<x<2>, matmul_nt(relu(matmul(x<1>, weight)), weight)>;
template <int> struct experts : experts_of<dv::let<x<1>, all_to_all<ranks>(x<0>)>, both_products,
                                           dv::let<x<3>, all_to_all<ranks>(x<2>)>, dv::output<x<3>>> {};
template <int> struct experts_alone : experts_of<dv::let<x<1>, relu(x<0>)>, both_products, dv::output<x<2>>> {};

// Small: an all_reduce of 10,000 x 1000 floats beside a product of 1000 x 1000.
using small_matrix = dv::tensor<float, 1000, 1000>;
template <int Ranks, class... Reduce>
struct small_of : dv::graph<over<Ranks>, dv::state<weight, small_matrix, normal_init<1, 1, 32>>, Reduce...,
                            dv::let<other_product, matmul(weight, weight)>, dv::output<other_product>> {};
template <int Ranks>
struct small : small_of<Ranks, dv::state<held, dv::tensor<float, 10000, 1000>, constant<1>>,
                        dv::let<gathered, all_reduce<sum, ranks>(held)>, dv::output<gathered>> {};
template <int Ranks> struct small_alone : small_of<Ranks> {};

template <class... O> using plan = dv::options<BENCH_MACHINE, O...>;
template <dv::transport By> using collectives = dv::collective_transport<By>;
using as_written = plan<collectives<dv::transport::nccl>, dv::overlap<false>>;
using by_nccl = plan<collectives<dv::transport::nccl>>;
using by_copies = plan<collectives<dv::transport::peer_copy>>;
using automatic = plan<dv::rewritten_by<dv::rewrite::automatic>, collectives<dv::transport::automatic>>;

// The times measured of a graph on two GPUs, where the bench includes what DOVETAIL_PROFILE has written in a run of it before.
template <class Graph> struct times_of {};
#if defined(BENCH_PROFILED)
template <> struct times_of<chain<2>> { using type = chain_2_profile; };
template <> struct times_of<backward<2>> { using type = backward_2_profile; };
template <> struct times_of<gather<2>> { using type = gather_2_profile; };
template <> struct times_of<small<2>> { using type = small_2_profile; };
template <> struct times_of<fsdp<0>> { using type = fsdp_0_profile; };
template <> struct times_of<experts<0>> { using type = experts_0_profile; };
#endif
template <class Graph, class Options> struct with_times { using type = Options; };
template <class Graph, class... O>
    requires requires { typename times_of<Graph>::type; }
struct with_times<Graph, dv::options<O...>> { using type = dv::options<O..., dv::profile<typename times_of<Graph>::type>>; };
}  // namespace app

constexpr int repeats = 11;

using bench::normal_halves, bench::variant;

template <class G, class Given, class Rank, class Bind, class... Arguments>
variant planned(Rank& rank, const char* name, const Bind& bind, const Arguments&... arguments) {
    return bench::planned<G, typename app::with_times<G, Given>::type>(rank, name, bind, arguments...);
}

// The computations alone come first, then what everyone writes.
template <class G, class Alone, class Rank, class Bind, class BindAlone>
std::vector<variant> planned_all(Rank& rank, const Bind& bind, const BindAlone& bind_alone) {
    std::vector<variant> all;
    all.push_back(planned<Alone, app::as_written>(rank, "computations alone", bind_alone));
    all.push_back(planned<G, app::as_written>(rank, "NCCL, one stream", bind));
    all.push_back(planned<G, app::by_nccl>(rank, "NCCL, planned", bind));
    all.push_back(planned<G, app::by_copies>(rank, "copy engines, planned", bind));
    all.push_back(planned<G, app::automatic>(rank, "automatic", bind));
    all.push_back(planned<G, app::automatic>(rank, "automatic, CUDA graph", bind, dv::replay));
    return all;
}

void print(const char* workload, int ranks, const std::vector<variant>& all) {
    std::printf("%s, %d GPUs\n", workload, ranks);
    const double alone = bench::median(all[0].milliseconds), everyone = bench::median(all[1].milliseconds);
    for (const variant& v : all) {
        const double time = bench::median(v.milliseconds);
        std::printf("  %-34s %8.3f ms, %5.3f of the computations, %4.0f%% hidden by gain", v.name.c_str(), time, time / alone,
                    100 * (everyone - time) / (everyone - alone));
        if (v.predicted > 0) std::printf("; predicted %8.3f ms, %+5.1f%%", v.predicted, 100 * (v.predicted / time - 1));
        std::printf("\n");
    }
    std::fflush(stdout);
}

struct inputs {
    explicit inputs(int rank) : square{app::side * app::side, 100 + rank, 1.0f}, slope{app::side * app::hidden, 200 + rank, 1.0f} {}
    normal_halves square, slope;
};

// `bind(executor, inputs)` binds the inputs of both graphs; `more(rank, inputs, meeting, all)` adds further variants to all, and returns
// what they use.
template <int Ranks, class G, class Alone, class Bind, class More>
void measure(const char* workload, const Bind& bind, const More& more) {
    if (bench::gpus() < Ranks) return static_cast<void>(std::printf("%s: skipped, it takes %d GPUs\n", workload, Ranks));
    bench::meeting meet{Ranks};
    dv::cuda::world::local(Ranks).run([&](auto& rank) {
        bench::must(cudaSetDevice(rank.index()));
        const inputs in{rank.index()};
        const auto bind_here = [&](auto& step) { bind(step, in); };
        std::vector<variant> all = planned_all<G, Alone>(rank, bind_here, bind_here);
        [[maybe_unused]] const auto kept = more(rank, in, meet, all);
        bench::time_in_turn(all, meet, repeats);
        if (rank.index() == 0) print(workload, Ranks, all);
        meet();
    });
}
template <int Ranks, class G, class Alone, class Bind>
void measure(const char* workload, const Bind& bind) {
    measure<Ranks, G, Alone>(workload, bind, [](auto&&...) { return 0; });
}

constexpr auto bind_nothing = [](auto&, const inputs&) {};
constexpr auto bind_square = [](auto& step, const inputs& in) { step.bind(dv::name<app::x<0>>, in.square.bound()); };
constexpr auto bind_tokens = [](auto& step, const inputs& in) { step.bind(dv::name<app::x<0>>, in.slope.bound()); };
constexpr auto bind_backward = [](auto& step, const inputs& in) {
    step.bind(dv::name<app::given>, in.slope.bound()).bind(dv::name<app::slope<0>>, in.slope.bound());
};
constexpr auto bind_sharded = [](auto& step, const inputs& in) {
    step.bind(dv::name<app::x<0>>, in.slope.bound()).bind(dv::name<app::slope<0>>, in.slope.bound());
};

// What is written by hand, on one rank, with weights of its own.
struct hand_and_weight {
    hand_and_weight(bench::shared_by_hand& all, int rank, const ncclUniqueId& id, const inputs& in, int deviation, bench::meeting& meet)
        : weight{app::side * app::side, 1, 1.0f / static_cast<float>(deviation)},
          hand{all, rank, id, in.square.data(), in.slope.data(), weight.data(), meet} {}
    normal_halves weight;
    bench::by_hand hand;
};
using added = void (*)(std::vector<variant>&, bench::by_hand&);

// Adds variants by hand, which `add` lists, to those of the planner, and the graph with products on fewer multiprocessors.
template <int Ranks, class G, class Alone, class OnFewer, class Bind>
void measure_beside_hand(const char* workload, const Bind& bind, int deviation, added add) {
    if (bench::gpus() < Ranks) return static_cast<void>(std::printf("%s: skipped, it takes %d GPUs\n", workload, Ranks));
    bench::shared_by_hand shared{Ranks};
    ncclUniqueId id;
    bench::must(ncclGetUniqueId(&id));
    measure<Ranks, G, Alone>(workload, bind, [&](auto& rank, const inputs& in, bench::meeting& meet, std::vector<variant>& all) {
        all.push_back(planned<OnFewer, app::automatic>(rank, "automatic, products on 128 SMs", [&](auto& step) { bind(step, in); }));
        auto here = std::make_shared<hand_and_weight>(shared, rank.index(), id, in, deviation, meet);
        add(all, here->hand);
        return here;
    });
}

void add_chains(std::vector<variant>& all, bench::by_hand& hand) {
    const auto wait = [&] { hand.wait(); };
    for (const int chunks : {1, 2, 4, 8})
        all.push_back({"by hand, products in " + std::to_string(chunks) + " chunks", [&, chunks] { hand.products(chunks); }, wait});
    all.push_back({"by hand, NCCL, one stream", [&] { hand.chain_by_nccl(1, false); }, wait});
    for (const int chunks : {2, 4, 8}) {
        const std::string in_chunks = " in " + std::to_string(chunks) + " chunks";
        all.push_back({"by hand, NCCL" + in_chunks, [&, chunks] { hand.chain_by_nccl(chunks, true); }, wait});
        all.push_back({"by hand, copy engines" + in_chunks, [&, chunks] { hand.chain_by_copies(chunks); }, wait});
    }
    all.push_back({"by hand, copy engines, 4 SMs less", [&] { hand.chain_by_copies(4, 4); }, wait});
    all.push_back({"by hand, 8 CTAs in 4 chunks", [&] { hand.chain_by_few_ctas(4, false); }, wait});
    all.push_back({"by hand, 8 CTAs, 8 SMs less", [&] { hand.chain_by_few_ctas(4, true); }, wait});
}
void add_backwards(std::vector<variant>& all, bench::by_hand& hand) {
    const auto wait = [&] { hand.wait(); };
    all.push_back({"by hand, products alone", [&] { hand.backward_alone(); }, wait});
    all.push_back({"by hand, NCCL, one stream", [&] { hand.backward_by_nccl(false); }, wait});
    all.push_back({"by hand, NCCL, two streams", [&] { hand.backward_by_nccl(true); }, wait});
    all.push_back({"by hand, NCCL of 8 CTAs", [&] { hand.backward_by_few_ctas(); }, wait});
    all.push_back({"by hand, copy engines", [&] { hand.backward_by_copies(); }, wait});
}

template <int Ranks>
void measure_chain() {
    measure_beside_hand<Ranks, app::chain<Ranks>, app::chain_alone<Ranks>, app::chain_on_128<Ranks>>(
        "tensor-parallel chain of four layers", bind_square, 91, add_chains);
}
template <int Ranks>
void measure_backward() {
    measure_beside_hand<Ranks, app::backward<Ranks>, app::backward_without<Ranks>, app::backward_on_128<Ranks>>(
        "gradients of twelve layers", bind_backward, 64, add_backwards);
}
template <int Ranks>
void measure_beside_products() {
    measure<Ranks, app::gather<Ranks>, app::gather_alone<Ranks>>("all_gather of 64 MiB a rank beside a product", bind_square);
    measure<Ranks, app::small<Ranks>, app::small_alone<Ranks>>("all_reduce of 10000 x 1000 floats beside a product of 1000", bind_nothing);
}
}  // namespace

TEST_CASE("a chain of tensor-parallel layers") { measure_chain<2>(), measure_chain<4>(); }
TEST_CASE("gradients beside the backward pass") { measure_backward<2>(), measure_backward<4>(); }
TEST_CASE("a collective beside a product") { measure_beside_products<2>(), measure_beside_products<4>(); }
TEST_CASE("fully sharded") {
    measure<2, app::fsdp<0>, app::fsdp_alone<0>>("fully sharded, eight layers, forward and backward", bind_sharded);
}
TEST_CASE("experts") { measure<2, app::experts<0>, app::experts_alone<0>>("a layer of experts", bind_tokens); }
