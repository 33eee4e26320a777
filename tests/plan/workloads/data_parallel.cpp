// Data-parallel backward of 24 layers: 4 weights and 8 small gradients a layer; one all_reduce each, as a group a layer, all small ones
// packed by a copy, and everything of a layer packed. With Adam, whose states are whole on each rank or, as ZeRO-1 has them, in shards.
#include "workload.hpp"

namespace dp24 {
using namespace workloads::op;
using namespace dv::ops;
using real = dv::bfloat16;
struct dp;
struct node;
constexpr int layers = 24, h = 2048, f = 4 * h, ranks = 8;
template <int> struct x;
template <int> struct dy;
template <int, int> struct w;
template <int, int> struct g;
template <int, int> struct mg;
template <int, int> struct s;
template <int, int> struct sg;
template <int, int> struct msg_;
template <int> struct packed;
template <int> struct mean_packed;
// dx and the small gradients of a layer from its saved input: 2 x forward flops less the weight gradients' half.
struct back_x {
    static constexpr tt result(tt dy, tt x, tt, tt, tt, tt) { return dy == x ? dy : tt{}; }
    static constexpr dv::cost cost(tt dy, tt, tt a, tt b, tt c, tt d) {
        return {2 * dy.extent[0] * (a.size() + b.size() + c.size() + d.size()), 20 * dy.bytes(), dy.type};
    }
};
template <int N, int M> struct grad_w {
    static constexpr tt result(tt dy, tt) { return dy.with_extents(N, M); }
    static constexpr dv::cost cost(tt dy, tt) { return {2 * dy.extent[0] * N * M, 2 * std::int64_t{N} * M, dy.type}; }
};
template <int N> struct grad_s {
    static constexpr tt result(tt dy, tt) { return dy.with_extents(N); }
    static constexpr dv::cost cost(tt dy, tt) { return dv::bytes_moved(dy.bytes()); }
};
struct sgd {
    static constexpr tt result(tt w, tt g) { return w == g ? w : tt{}; }
    static constexpr dv::cost cost(tt w, tt) { return dv::bytes_moved(3 * w.bytes()); }
    static constexpr auto row_wise = dv::elementwise();
};
template <int K> constexpr int rows_of = K == 3 ? f : h;
template <int K> constexpr int columns_of = K == 0 ? 3 * h : K == 2 ? f : h;
template <int K> constexpr int small_of = K == 0 ? 3 * h : K == 2 ? f : h;  // biases 3h h f h, norms h h h h
template <int L, int K> using big_state =
    dv::state<w<L, K>, dv::tensor<real, rows_of<K>, columns_of<K>>, dv::from_store, dv::replicated<dp>>;
template <int L, int K> using small_state = dv::state<s<L, K>, dv::tensor<real, small_of<K>>, dv::from_store, dv::replicated<dp>>;
template <int Tokens> struct saved {
    template <int L> using body = dv::input<x<L>, dv::tensor<real, Tokens, h>>;
};
template <int I> struct layer_at {
    static constexpr int L = layers - 1 - I;
};
// The slope of layer L - 1; that of the first has no reader.
template <int L> struct slope_of {
    using type = dv::let<dy<L - 1>, back_x(dy<L>, x<L>, w<L, 0>, w<L, 1>, w<L, 2>, w<L, 3>)>;
};
template <> struct slope_of<0> {
    using type = dv::group<>;
};
template <int I> using slope = typename slope_of<layers - 1 - I>::type;
template <int I, int K> using big = dv::let<g<layer_at<I>::L, K>, grad_w<rows_of<K>, columns_of<K>>(dy<layer_at<I>::L>, x<layer_at<I>::L>)>;
template <int I, int K> using small = dv::let<sg<layer_at<I>::L, K>, grad_s<small_of<K>>(dy<layer_at<I>::L>, x<layer_at<I>::L>)>;
template <int I, int K> using big_mean = dv::let<mg<layer_at<I>::L, K>, all_reduce<average, dp>(g<layer_at<I>::L, K>)>;
template <int I, int K> using small_mean = dv::let<msg_<layer_at<I>::L, K>, all_reduce<average, dp>(sg<layer_at<I>::L, K>)>;
template <int L, int K> using learn_big = dv::update<w<L, K>, sgd(w<L, K>, mg<L, K>)>;
template <int L, int K> using learn_small = dv::update<s<L, K>, sgd(s<L, K>, msg_<L, K>)>;
template <class Mesh, int Tokens, class... S> using step_on =
    dv::graph<Mesh, dv::repeat<saved<Tokens>::template body, layers>, dv::input<dy<layers - 1>, dv::tensor<real, Tokens, h>>,
              dv::repeat<big_state, layers, 4>, dv::repeat<small_state, layers, 8>, dv::repeat<slope, layers>, dv::repeat<big, layers, 4>,
              dv::repeat<small, layers, 8>, S..., dv::repeat<learn_big, layers, 4>>;
template <int Tokens, class... S> using step = step_on<dv::mesh<dv::axis<dp, ranks>>, Tokens, S...>;
// 1: one all_reduce each.
struct unbucketed : step<4096, dv::repeat<big_mean, layers, 4>, dv::repeat<small_mean, layers, 8>, dv::repeat<learn_small, layers, 8>> {};
// 1b: written layer by layer.
template <int I> using means_of =
    dv::group<big_mean<I, 0>, big_mean<I, 1>, big_mean<I, 2>, big_mean<I, 3>, small_mean<I, 0>, small_mean<I, 1>, small_mean<I, 2>,
              small_mean<I, 3>, small_mean<I, 4>, small_mean<I, 5>, small_mean<I, 6>, small_mean<I, 7>>;
template <int I> using grads_of = dv::group<big<I, 0>, big<I, 1>, big<I, 2>, big<I, 3>, small<I, 0>, small<I, 1>, small<I, 2>, small<I, 3>,
                                            small<I, 4>, small<I, 5>, small<I, 6>, small<I, 7>>;
template <int I> using layer_of = dv::group<grads_of<I>, means_of<I>, slope<I>>;
template <int Tokens> struct by_layer : dv::graph<dv::mesh<dv::axis<dp, ranks>>, dv::repeat<saved<Tokens>::template body, layers>,
                                                  dv::input<dy<layers - 1>, dv::tensor<real, Tokens, h>>, dv::repeat<big_state, layers, 4>,
                                                  dv::repeat<small_state, layers, 8>, dv::repeat<layer_of, layers>,
                                                  dv::repeat<learn_small, layers, 8>, dv::repeat<learn_big, layers, 4>> {};
// 2: an NCCL group of all twelve.
template <int I> using group_of = dv::nccl_group<means_of<I>>;
template <int Tokens> struct in_groups : step<Tokens, dv::repeat<group_of, layers>, dv::repeat<learn_small, layers, 8>> {};
// 2b: a group of the eight small ones.
template <int I> using small_group_of = dv::nccl_group<small_mean<I, 0>, small_mean<I, 1>, small_mean<I, 2>, small_mean<I, 3>,
                                                       small_mean<I, 4>, small_mean<I, 5>, small_mean<I, 6>, small_mean<I, 7>>;
struct small_grouped : step<4096, dv::repeat<big_mean, layers, 4>, dv::repeat<small_group_of, layers>, dv::repeat<learn_small, layers, 8>> {
};
// 3: the small ones packed by a copy; the update takes the packed one and changes eight states (four at a time).
struct pack8 {
    static constexpr tt result(tt a, tt b, tt c, tt d, tt e, tt f, tt g, tt h) {
        return a.with_extents(a.size() + b.size() + c.size() + d.size() + e.size() + f.size() + g.size() + h.size());
    }
};
template <int Half> struct sgd4 {
    static constexpr dv::results result(tt a, tt b, tt c, tt d, tt) { return {a, b, c, d}; }
};
template <int I> struct packed_of {
    static constexpr int L = layer_at<I>::L;
    using type =
        dv::group<dv::let<mean_packed<L>,
                          all_reduce<average, dp>(pack8(sg<L, 0>, sg<L, 1>, sg<L, 2>, sg<L, 3>, sg<L, 4>, sg<L, 5>, sg<L, 6>, sg<L, 7>))>,
                  dv::update<dv::values<s<L, 0>, s<L, 1>, s<L, 2>, s<L, 3>>, sgd4<0>(s<L, 0>, s<L, 1>, s<L, 2>, s<L, 3>, mean_packed<L>)>,
                  dv::update<dv::values<s<L, 4>, s<L, 5>, s<L, 6>, s<L, 7>>, sgd4<1>(s<L, 4>, s<L, 5>, s<L, 6>, s<L, 7>, mean_packed<L>)>>;
};
template <int I> using packed_small = typename packed_of<I>::type;
struct packed_graph : step<4096, dv::repeat<big_mean, layers, 4>, dv::repeat<packed_small, layers>> {};
// 4: on two nodes, the mean over both in one all_reduce each.
template <int I, int K> using big_mean_of_nodes = dv::let<mg<layer_at<I>::L, K>, all_reduce<average, node, dp>(g<layer_at<I>::L, K>)>;
template <int I, int K> using small_mean_of_nodes = dv::let<msg_<layer_at<I>::L, K>, all_reduce<average, node, dp>(sg<layer_at<I>::L, K>)>;
template <int Local> struct two_nodes
    : step_on<dv::mesh<dv::axis<node, 2, dv::link::network>, dv::axis<dp, Local>>, 4096, dv::repeat<big_mean_of_nodes, layers, 4>,
              dv::repeat<small_mean_of_nodes, layers, 8>, dv::repeat<learn_small, layers, 8>> {};
// 5: the big weights alone, their updates as written or on shards.
template <int Tokens, template <class...> class Shard> struct big_ones
    : dv::graph<dv::mesh<dv::axis<dp, ranks>>, dv::repeat<saved<Tokens>::template body, layers>,
                dv::input<dy<layers - 1>, dv::tensor<real, Tokens, h>>, dv::repeat<big_state, layers, 4>, dv::repeat<slope, layers>,
                dv::repeat<big, layers, 4>, Shard<dv::repeat<big_mean, layers, 4>, dv::repeat<learn_big, layers, 4>>> {};
// 6: Adam on the big weights: master weights and both moments in float, on each rank; the weights are a rounded copy.
template <int, int> struct master;
template <int, int> struct moments;
struct adam {
    static constexpr dv::results result(tt w, tt m, tt g) { return {g.size() == w.size() ? w : tt{}, m}; }
    static constexpr dv::cost cost(tt w, tt m, tt g) { return dv::bytes_moved(2 * w.bytes() + 2 * m.bytes() + g.bytes()); }
};
struct rounded {
    static constexpr tt result(tt w) { return {dv::element::bfloat16, w.rank, {w.extent[0], w.extent[1]}}; }
    static constexpr dv::cost cost(tt w) { return dv::bytes_moved(w.bytes() + w.bytes() / 2); }
};
template <int Parts, class... Replicated> struct optimizer {
    template <int L, int K, int Times> using tensor = dv::tensor<float, Times * rows_of<K> / Parts, columns_of<K>>;
    template <int L, int K> using states = dv::group<dv::state<master<L, K>, tensor<L, K, 1>, dv::from_store, Replicated...>,
                                                     dv::state<moments<L, K>, tensor<L, K, 2>, dv::from_store, Replicated...>>;
};
template <int L, int K> using adam_step = dv::update<dv::values<master<L, K>, moments<L, K>>, adam(master<L, K>, moments<L, K>, mg<L, K>)>;
template <int L, int K> using learn_whole = dv::group<adam_step<L, K>, dv::update<w<L, K>, rounded(master<L, K>)>>;
template <int Tokens, int Parts, template <int, int> class Mean, template <int, int> class Learn, class... Replicated>
using with_adam = dv::graph<dv::mesh<dv::axis<dp, ranks>>, dv::repeat<saved<Tokens>::template body, layers>,
                            dv::input<dy<layers - 1>, dv::tensor<real, Tokens, h>>, dv::repeat<big_state, layers, 4>,
                            dv::repeat<optimizer<Parts, Replicated...>::template states, layers, 4>, dv::repeat<slope, layers>,
                            dv::repeat<big, layers, 4>, dv::repeat<Mean, layers, 4>, dv::repeat<Learn, layers, 4>>;
struct adam_whole : with_adam<4096, 1, big_mean, learn_whole, dv::replicated<dp>> {};
// 6b: in shards of rows. Each rank reduces and updates its own, and all gather the rounded weights.
template <int I, int K> using shard_mean = dv::let<mg<layer_at<I>::L, K>, reduce_scatter<average, dp>(g<layer_at<I>::L, K>)>;
template <int L, int K> using learn_shard = dv::group<adam_step<L, K>, dv::update<w<L, K>, all_gather<dp>(rounded(master<L, K>))>>;
struct adam_in_shards : with_adam<4096, ranks, shard_mean, learn_shard> {};
// 7: twelve large layers on two nodes, few enough that the search tries copy engines within the nodes.
using square = dv::tensor<dv::half, 8192, 8192>;
template <int L> using square_weight = dv::input<w<L, 0>, square>;
template <int L>
using square_layer = dv::group<dv::let<packed<L>, mm(dy<L + 1>, x<0>)>, dv::let<mean_packed<L>, all_reduce<average, node, dp>(packed<L>)>,
                               dv::let<dy<L>, mm(dy<L + 1>, w<L, 0>)>>;
template <int Local> struct squares_on_two_nodes
    : dv::graph<dv::mesh<dv::axis<node, 2, dv::link::network>, dv::axis<dp, Local>>, dv::input<x<0>, square>, dv::input<dy<12>, square>,
                dv::repeat<square_weight, 12>, dv::repeat<square_layer, dv::down<12>>, dv::output<dv::all<12, mean_packed>, dy<0>>> {};
}  // namespace dp24
std::vector<workloads::workload> workloads::data_parallel() {
    using namespace dp24;
    return {workloads::of<unbucketed>("data parallel, 24 layers, an all_reduce each"),
            workloads::of<unbucketed, workloads::bucketed>("data parallel, bucketed"),
            workloads::of<by_layer<4096>>("data parallel, written by layer"),
            workloads::of<in_groups<4096>>("data parallel, an NCCL group a layer"),
            workloads::of<small_grouped>("data parallel, small ones in a group"),
            workloads::of<packed_graph>("data parallel, small ones packed"),
            workloads::of<by_layer<2048>>("data parallel, 2048 tokens, by layer"),
            workloads::of<in_groups<2048>>("data parallel, 2048 tokens, a group a layer"),
            workloads::of<two_nodes<8>>("data parallel, two nodes of 8"),
            workloads::of<two_nodes<1>>("data parallel, two nodes of 1"),
            workloads::of<squares_on_two_nodes<8>>("data parallel, 12 large layers, 2 nodes of 8"),
            workloads::of<squares_on_two_nodes<4>>("data parallel, 12 large layers, 2 nodes of 4"),
            workloads::of<big_ones<2048, dv::group>>("data parallel, 2048 tokens, the weights alone"),
            workloads::of<big_ones<2048, dv::shard_update>>("data parallel, 2048 tokens, updates on shards"),
            workloads::of<adam_whole>("data parallel, Adam on each rank"),
            workloads::of<adam_in_shards>("data parallel, Adam in shards (ZeRO-1)")};
}
