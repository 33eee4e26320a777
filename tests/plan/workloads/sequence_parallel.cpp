// Sequence parallelism: reduce_scatter behind the row-parallel product, rms_norm and residual on a shard, all_gather before the next.
#include "workload.hpp"

namespace sp70 {
using namespace workloads::op;
using namespace dv::ops;
using real = dv::bfloat16;
struct tp;
constexpr int layers = 4, hidden = 8192, seq = 2048;
template <int> struct w_qkv;
template <int> struct w_o;
template <int> struct w_up;
template <int> struct w_down;
template <int, int> struct x;
template <int, int> struct mid;
template <int, int> struct a_part;
template <int, int> struct m_part;
using core70 = attention<seq, 16, 2, 128>;
template <int L> using weights = dv::group<dv::state<w_qkv<L>, dv::tensor<real, hidden, 2560>, dv::from_store>,
                                           dv::state<w_o<L>, dv::tensor<real, 2048, hidden>, dv::from_store>,
                                           dv::state<w_up<L>, dv::tensor<real, hidden, 14336>, dv::from_store>,
                                           dv::state<w_down<L>, dv::tensor<real, 7168, hidden>, dv::from_store>>;
template <int L, int C> using layer =
    dv::group<dv::let<a_part<L, C>, reduce_scatter<sum, tp>(mm(core70(mm(all_gather<tp>(rms_norm(x<L, C>)), w_qkv<L>)), w_o<L>))>,
              dv::let<mid<L, C>, plus(x<L, C>, a_part<L, C>)>,
              dv::let<m_part<L, C>, reduce_scatter<sum, tp>(mm(glu(mm(all_gather<tp>(rms_norm(mid<L, C>)), w_up<L>)), w_down<L>))>,
              dv::let<x<L + 1, C>, plus(mid<L, C>, m_part<L, C>)>>;
template <int Tokens, int Chunks> struct feed {
    template <int C> using body = dv::input<x<0, C>, dv::tensor<real, Tokens / Chunks / 4, hidden>>;
};
template <int C> using last = x<layers, C>;
template <int Tokens, int Chunks>
struct model : dv::graph<dv::mesh<dv::axis<tp, 4>>, dv::repeat<feed<Tokens, Chunks>::template body, Chunks>, dv::repeat<weights, layers>,
                         dv::repeat<layer, layers, Chunks>, dv::output<dv::all<Chunks, last>>> {};
// Backward of the same, with recomputation left out: gradients of activations and weights; bulk overlap (TE): the gathered input of a
// weight gradient beside the activation gradient, the reduce_scatter beside the weight gradient.
template <int> struct dy;
template <int> struct h_up;
template <int> struct dh;
template <int> struct dw_down;
template <int> struct dw_up;
template <int> struct xs;
template <int> struct g_up;
template <int> struct ds;
struct dglu {
    static constexpr tt result(tt h, tt g) { return h.extent[1] == 2 * g.extent[1] ? h : tt{}; }
    static constexpr dv::cost cost(tt h, tt g) { return dv::bytes_moved(2 * h.bytes() + g.bytes()); }
};
template <int L> using saved =
    dv::group<dv::input<xs<L>, dv::tensor<real, 2048, hidden>>, dv::input<h_up<L>, dv::tensor<real, 8192, 14336>>>;
template <int I> struct mlp_back_of {
    static constexpr int L = layers - 1 - I;
    using type =
        dv::group<dv::let<g_up<L>, all_gather<tp>(ds<L + 1>)>, dv::let<dh<L>, dglu(h_up<L>, mm_nt(g_up<L>, w_down<L>))>,
                  dv::let<dw_down<L>, mm_tn(glu(h_up<L>), g_up<L>)>, dv::let<dw_up<L>, mm_tn(all_gather<tp>(rms_norm(xs<L>)), dh<L>)>,
                  dv::let<ds<L>, plus(ds<L + 1>, reduce_scatter<sum, tp>(mm_nt(dh<L>, w_up<L>)))>>;
};
template <int I> using mlp_back = typename mlp_back_of<I>::type;
template <int L> using mlp_weights = dv::group<dv::state<w_up<L>, dv::tensor<real, hidden, 14336>, dv::from_store>,
                                               dv::state<w_down<L>, dv::tensor<real, 7168, hidden>, dv::from_store>>;
struct backward : dv::graph<dv::mesh<dv::axis<tp, 4>>, dv::repeat<mlp_weights, layers>, dv::repeat<saved, layers>,
                            dv::input<ds<layers>, dv::tensor<real, 2048, hidden>>, dv::repeat<mlp_back, layers>,
                            dv::output<dv::all<layers, dw_up>, dv::all<layers, dw_down>, ds<0>>> {};
}  // namespace sp70
std::vector<workloads::workload> workloads::sequence_parallel() {
    using namespace sp70;
    return {workloads::of<model<8192, 1>>("sequence parallel, 70B on 4"), workloads::of<model<8192, 2>>("sequence parallel, two batches"),
            workloads::of<model<8192, 4>>("sequence parallel, four chunks"), workloads::of<backward>("sequence parallel, MLP backward")};
}
