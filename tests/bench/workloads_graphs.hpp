// The graphs of the workloads, and the options by which each is planned. What is beside communication has a graph of its own without it.
#pragma once

#include <dovetail/dovetail.hpp>
#include <dovetail/observe/observe.hpp>
#include <dovetail/ops/ops.hpp>

#include "bench/workloads_by_hand.hpp"

#if !defined(BENCH_MACHINE)
#define BENCH_MACHINE dv::machine::h200_nvlink
#endif

namespace workloads {

namespace dv = dovetail;

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

// A layer of experts: tokens to the rank of their expert, two products and back. Narrow products take little more time than the exchanges.
constexpr std::int64_t narrow = 2048;
template <std::int64_t Width, class... Statement>
struct experts_of : dv::graph<over<2>, dv::input<x<0>, tokens>, dv::state<weight, dv::tensor<real, hidden, Width>, normal_init<1, 1, 64>>,
                              Statement...> {};
using both_products = dv::let<x<2>, matmul_nt(relu(matmul(x<1>, weight)), weight)>;
template <std::int64_t Width>
struct exchanged : experts_of<Width, dv::let<x<1>, all_to_all<ranks>(x<0>)>, both_products, dv::let<x<3>, all_to_all<ranks>(x<2>)>,
                              dv::output<x<3>>> {};
template <std::int64_t Width>
struct kept_here : experts_of<Width, dv::let<x<1>, relu(x<0>)>, both_products, dv::output<x<2>>> {};
template <int> struct experts : exchanged<side> {};
template <int> struct experts_alone : kept_here<side> {};
template <int> struct narrow_experts : exchanged<narrow> {};
template <int> struct narrow_experts_alone : kept_here<narrow> {};

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
// Everything that can be split in two micro-batches, whether that is predicted to gain or not.
using in_two = dv::decided_rewrites<2, 0u, true, dv::all_kept>;
using in_two_by_nccl = plan<in_two, collectives<dv::transport::nccl>>;
using in_two_by_copies = plan<in_two, collectives<dv::transport::peer_copy>>;

// The times measured of a graph on two GPUs, where the bench includes what DOVETAIL_PROFILE has written in a run of it before.
template <class Graph> struct times_of {};
#if defined(BENCH_PROFILED)
template <> struct times_of<chain<2>> { using type = chain_2_profile; };
template <> struct times_of<backward<2>> { using type = backward_2_profile; };
template <> struct times_of<gather<2>> { using type = gather_2_profile; };
template <> struct times_of<small<2>> { using type = small_2_profile; };
template <> struct times_of<fsdp<0>> { using type = fsdp_0_profile; };
template <> struct times_of<experts<0>> { using type = experts_0_profile; };
template <> struct times_of<narrow_experts<0>> { using type = narrow_experts_0_profile; };
#endif
template <class Graph, class Options> struct with_times { using type = Options; };
template <class Graph, class... O>
    requires requires { typename times_of<Graph>::type; }
struct with_times<Graph, dv::options<O...>> { using type = dv::options<O..., dv::profile<typename times_of<Graph>::type>>; };
}  // namespace app

}  // namespace workloads
