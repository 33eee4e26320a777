// The programs of tutorials: three senders (Ray), all_reduce of 10000 x 1000 beside a product, layer-wise overlap, micro-batch pipeline,
// the asynchronous calls of a tutorial all at once, three streams, small tensors batched, one GPU to three others, the same sum three ways,
// two GPUs joined by PCIe, heterogeneous training.
#include "workload.hpp"

namespace tutorial {
using namespace workloads::op;
using namespace dv::ops;
struct dp;
struct receiver;
template <int> struct sender;
template <int> struct block;
template <int> struct product;
struct value;
template <class T> struct filled {
    static constexpr tt result(tt) { return T::type; }
    static constexpr dv::cost cost(tt) { return dv::bytes_moved(T::bytes); }
};
// 1. Ray.
using matrix = dv::tensor<dv::half, 10000, 10000>;
template <int I> using make = dv::on<sender<I>, dv::let<block<I>, filled<matrix>(value)>>;
template <int I> using use = dv::let<product<I>, mm(block<I>, block<I>)>;
struct three_senders : dv::graph<dv::input<value, dv::scalar<float>>, dv::repeat<make, 3>, dv::on<receiver, dv::repeat<use, 3>>,
                                 dv::output<dv::all<3, product>>> {};
// 2. all_reduce beside an independent product.
struct gradient;
struct x;
struct weight;
struct y;
struct mean;
struct on_host;
struct independent : dv::graph<dv::mesh<dv::axis<dp, 8>>, dv::input<gradient, dv::tensor<float, 10000, 1000>>,
                               dv::input<x, dv::tensor<float, 1000, 1000>>, dv::input<weight, dv::tensor<float, 1000, 1000>>,
                               dv::let<mean, all_reduce<sum, dp>(gradient)>, dv::let<y, mm(x, weight)>, dv::output<mean, y>> {};
// 3. Layer-wise: attention's all_reduce beside the MLP: possible where both take the same rms_norm (parallel layers), not as the tutorial
// writes it.
struct tp;
template <int> struct h;
template <int> struct n_;
template <int> struct wa;
template <int> struct wo;
template <int> struct wu;
template <int> struct wd;
template <int> struct ar;
template <int> struct br;
constexpr int layers = 4;
template <int L> using weights = dv::group<
    dv::state<wa<L>, dv::tensor<dv::half, 4096, 1536>, dv::from_store>, dv::state<wo<L>, dv::tensor<dv::half, 512, 4096>, dv::from_store>,
    dv::state<wu<L>, dv::tensor<dv::half, 4096, 2048>, dv::from_store>, dv::state<wd<L>, dv::tensor<dv::half, 2048, 4096>, dv::from_store>>;
template <int L> using parallel_layer =
    dv::group<dv::let<n_<L>, rms_norm(h<L>)>, dv::let<ar<L>, all_reduce<sum, tp>(mm(attention<2048, 4, 4, 128>(mm(n_<L>, wa<L>)), wo<L>))>,
              dv::let<br<L>, all_reduce<sum, tp>(mm(act(mm(n_<L>, wu<L>)), wd<L>))>, dv::let<h<L + 1>, plus(plus(h<L>, ar<L>), br<L>)>>;
struct layer_wise : dv::graph<dv::mesh<dv::axis<tp, 8>>, dv::input<h<0>, dv::tensor<dv::half, 8192, 4096>, dv::replicated<tp>>,
                              dv::repeat<weights, layers>, dv::repeat<parallel_layer, layers>, dv::output<h<layers>>> {};
// 4. Micro-batch pipeline, forward.
template <int> struct stage;
template <int, int> struct v;
template <int S, int M> using hop = dv::on<stage<S>, dv::let<v<S + 1, M>, takes<1000>(v<S, M>)>>;
template <int M> using feed = dv::input<v<0, M>, dv::tensor<dv::half, 4096, 8192>>;
template <int M> using end_ = v<4, M>;
struct pipeline : dv::graph<dv::repeat<feed, 8>, dv::repeat<hop, 4, 8>, dv::output<dv::all<8, end_>>> {};
// 5. The asynchronous calls: all_reduce, broadcast, all_gather, a send, and a computation, 1000 x 1000 floats.
struct t1;
struct t2;
struct t3;
struct t4;
struct async_calls : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::input<x, dv::tensor<float, 1000, 1000>>, dv::let<t1, all_reduce<sum, dp>(x)>,
                               dv::let<t2, broadcast<dp, root_index<0>>(x)>, dv::let<t3, all_gather<dp>(x)>,
                               dv::let<t4, shift<dp, +1, zero_edge>(x)>, dv::let<y, takes<100>(x)>, dv::output<t1, t2, t3, t4, y>> {};
// 6. Three streams: product, all_reduce, copy to the host of the same tensor (a race in the tutorial).
struct three_streams
    : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::input<gradient, dv::tensor<float, 1000, 1000>>, dv::input<x, dv::tensor<float, 1000, 1000>>,
                dv::input<weight, dv::tensor<float, 1000, 1000>>, dv::let<mean, all_reduce<sum, dp>(gradient)>,
                dv::let<on_host, to_host(gradient)>, dv::let<y, mm(x, weight)>, dv::output<mean, on_host, y>> {};
// 7. 64 small tensors: one all_reduce each, or joined and taken apart (the parts are read by eight operations).
template <int> struct small;
template <int> struct got;
struct joined;
template <int I> using small_in = dv::input<small<I>, dv::tensor<float, 2048>>;
template <int I> using each = dv::let<got<I>, all_reduce<sum, dp>(small<I>)>;
struct small_each : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::repeat<small_in, 64>, dv::repeat<each, 64>, dv::output<dv::all<64, got>>> {};
struct small_joined : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::repeat<small_in, 64>,
                                dv::let<joined, all_reduce<sum, dp>(join(dv::all<64, small>))>, dv::output<joined>> {};
template <int... I> using small_grouped_list = dv::nccl_group<each<I>...>;
struct small_grouped
    : dv::graph<dv::mesh<dv::axis<dp, 4>>, dv::repeat<small_in, 64>, dv::nccl_group<dv::repeat<each, 64>>, dv::output<dv::all<64, got>>> {};
// 8. ten tensors of 40 MB from GPU 0 to each of three others, on three streams.
template <int> struct gpu;
template <int> struct datum;
template <int, int> struct copied;
template <int I> using own = dv::let<datum<I>, filled<dv::tensor<float, 10'000'000>>(value)>;
template <int To, int I> using fetch = dv::on<gpu<To>, dv::let<copied<To, I>, takes<10>(datum<I>)>>;
template <int I> using from1 = copied<1, I>;
template <int I> using from2 = copied<2, I>;
template <int I> using from4 = copied<3, I>;
template <int To, int I> using fetch1 = fetch<To + 1, I>;
struct p2p : dv::graph<dv::input<value, dv::scalar<float>>, dv::on<gpu<0>, dv::repeat<own, 10>>, dv::repeat<fetch1, 3, 10>,
                       dv::output<dv::all<10, from1>, dv::all<10, from2>, dv::all<10, from4>>> {};
// 9. the same sum three ways, 2^20 floats.
template <class... S> using sum_graph = dv::graph<dv::mesh<dv::axis<dp, 8>>, dv::input<x, dv::tensor<float, 1048576>>, S..., dv::output<y>>;
struct by_all_reduce : sum_graph<dv::let<y, all_reduce<sum, dp>(x)>> {};
struct by_reduce_broadcast : sum_graph<dv::let<y, broadcast<dp, root_index<0>>(reduce<sum, dp, root_index<0>>(x))>> {};
struct by_halves : sum_graph<dv::let<y, all_gather<dp>(reduce_scatter<sum, dp>(x))>> {};
// 10. Two GPUs joined by PCIe: a product of 8192^2 floats beside an all_reduce of 256 MB.
struct pcie {
    static constexpr dv::machine_description description{.name = "two_gpus_pcie",
                                                         .half_flops = 100'000'000'000'000,
                                                         .float_flops = 20'000'000'000'000,
                                                         .double_flops = 500'000'000'000,
                                                         .memory_bandwidth = 800'000'000'000,
                                                         .launch_latency = 4'000'000,
                                                         .edge_latency = 2'000'000,
                                                         .link_latency = 20'000'000,
                                                         .link_bandwidth = 12'000'000'000,
                                                         .bus_bandwidth = 10'000'000'000,
                                                         .host_bandwidth = 12'000'000'000,
                                                         .with_communication = {.of_compute = {1100, 1100, 1100}},
                                                         .with_copy = {.of_compute = {1020, 1020, 1020}}};
};
struct two_gpus
    : dv::graph<dv::mesh<dv::axis<dp, 2>>, dv::input<gradient, dv::tensor<float, 8192, 8192>>, dv::input<x, dv::tensor<float, 8192, 8192>>,
                dv::let<mean, all_reduce<sum, dp>(gradient)>, dv::let<y, mm(x, x)>, dv::output<mean, y>> {};
// 11. Gradient accumulation over 4 micro-batches, reduced with the last: 8 layers.
template <int, int> struct g;
template <int> struct r;
struct grad {
    static constexpr tt result(tt) { return dv::tensor<dv::half, 4096, 4096>::type; }
    static constexpr dv::cost cost(tt x) { return takes<800>::cost(x); }
};
struct grad_more {
    static constexpr tt result(tt, tt a) { return a; }
    static constexpr dv::cost cost(tt x, tt) { return takes<800>::cost(x); }
    static constexpr int in_place = 1;
};
template <int, int> struct s;
template <int M, int L> struct accumulate_ {
    using type = dv::group<dv::let<s<M, L + 1>, takes<800>(s<M, L>)>, dv::let<g<M, L>, grad_more(s<M, L>, g<M - 1, L>)>>;
};
template <int L> struct accumulate_<0, L> {
    using type = dv::group<dv::let<s<0, L + 1>, takes<800>(s<0, L>)>, dv::let<g<0, L>, grad(s<0, L>)>>;
};
template <int M, int L> using accumulate = typename accumulate_<M, L>::type;
template <int L> using reduced = dv::let<r<L>, all_reduce<sum, dp>(g<3, L>)>;
template <int M> using batch = dv::input<s<M, 0>, dv::tensor<dv::half, 4096, 4096>>;
template <int M> using tail = s<M, 8>;
struct accumulation : dv::graph<dv::mesh<dv::axis<dp, 8>>, dv::repeat<batch, 4>, dv::repeat<accumulate, 4, 8>, dv::repeat<reduced, 8>,
                                dv::output<dv::all<8, r>, dv::all<4, tail>>> {};
// 12. Heterogeneous training: two vision encoders feed a language model, tensors both ways, 4 micro-batches.
template <int> struct vision;
struct language;
template <int, int> struct image;
template <int, int> struct features;
template <int> struct hidden;
template <int, int> struct dfeat;
template <int, int> struct dgrad;
struct enc {
    static constexpr tt result(tt) { return dv::tensor<dv::half, 4096, 4096>::type; }
    static constexpr dv::cost cost(tt x) { return takes<2000>::cost(x); }
};
struct lm {
    static constexpr dv::results result(tt a, tt b) { return {a, b}; }
    static constexpr dv::cost cost(tt x, tt) { return takes<2500>::cost(x); }
};
template <int V, int M> using encode =
    dv::group<dv::input<image<V, M>, dv::tensor<dv::half, 16, 3, 224, 224>>, dv::on<vision<V>, dv::let<features<V, M>, enc(image<V, M>)>>>;
template <int M> using train = dv::on<language, dv::let<dv::values<dfeat<0, M>, dfeat<1, M>>, lm(features<0, M>, features<1, M>)>>;
template <int V, int M> using backward = dv::on<vision<V>, dv::let<dgrad<V, M>, takes<4000>(dfeat<V, M>)>>;
template <int M> using out0 = dgrad<0, M>;
template <int M> using out1 = dgrad<1, M>;
struct heterogeneous : dv::graph<dv::repeat<encode, 2, 4>, dv::repeat<train, 4>, dv::repeat<backward, 2, 4>,
                                 dv::output<dv::all<4, out0>, dv::all<4, out1>>> {};
}  // namespace tutorial
std::vector<workloads::workload> workloads::tutorials() {
    using namespace tutorial;
    return {workloads::of<three_senders>("tutorial, three senders"),
            workloads::of<independent>("tutorial, independent"),
            workloads::of<layer_wise>("tutorial, layer wise"),
            workloads::of<pipeline>("tutorial, pipeline"),
            workloads::of<async_calls>("tutorial, async calls"),
            workloads::of<three_streams>("tutorial, three streams"),
            workloads::of<small_each>("tutorial, small each"),
            workloads::of<small_each, workloads::bucketed>("tutorial, small each, bucketed"),
            workloads::of<small_joined>("tutorial, small joined"),
            workloads::of<small_grouped>("tutorial, small in a group"),
            workloads::of<p2p>("tutorial, p2p"),
            workloads::of<by_all_reduce>("tutorial, by all reduce"),
            workloads::of<by_reduce_broadcast>("tutorial, by reduce broadcast"),
            workloads::of<by_halves>("tutorial, by halves"),
            workloads::of<accumulation>("tutorial, accumulation"),
            workloads::of<heterogeneous>("tutorial, heterogeneous"),
            workloads::of<two_gpus, dv::options<pcie>>("tutorial, two GPUs by PCIe")};
}
