// FSDP / ZeRO-3: 8 layers of Llama-3 8B on 8 ranks, 8192 tokens a rank, forward and backward. Weights of a layer are one flat shard,
// gathered for forward and again for backward; gradients reduce-scattered; the shard updated. Memory limits; gathers kept. With 256 tokens
// a rank, communication takes longer than computation.
#include "workload.hpp"

namespace fsdp_8b {
using namespace workloads::op;
using namespace dv::ops;
using real = dv::bfloat16;
struct dp;
constexpr int layers = 8, tokens = 8192, hidden = 4096, ranks = 8;
constexpr std::int64_t parameters = 218'103'808;  // of a layer
template <int> struct shard;
template <int> struct moment;
template <int> struct full;
template <int> struct again;
template <int> struct x;
template <int> struct dx;
template <int> struct dw;
template <int> struct mean;
struct fwd {
    static constexpr tt result(tt x, tt w) { return w.rank == 1 ? x : tt{}; }
    static constexpr dv::cost cost(tt x, tt w) {
        return {2 * x.extent[0] * w.extent[0] + 2 * x.extent[0] * 8192 * 4096, w.bytes() + 8 * x.bytes(), x.type};
    }
};
struct bwd_x {
    static constexpr tt result(tt dy, tt, tt) { return dy; }  // with recomputation of the layer's inside
    static constexpr dv::cost cost(tt x, tt, tt w) { return fwd::cost(x, w) + fwd::cost(x, w); }
};
struct bwd_w {
    static constexpr tt result(tt, tt, tt w) { return w; }
    static constexpr dv::cost cost(tt x, tt, tt w) { return {2 * x.extent[0] * w.extent[0], w.bytes() + 8 * x.bytes(), x.type}; }
};
// As one operation, as an autograd engine does it: both gradients from one pass.
struct bwd {
    static constexpr dv::results result(tt dy, tt, tt w) { return {dy, w}; }
    static constexpr dv::cost cost(tt a, tt b, tt w) { return bwd_x::cost(a, b, w) + bwd_w::cost(a, b, w); }
};
struct adam {
    static constexpr dv::results result(tt w, tt m, tt) { return {w, m}; }
    static constexpr dv::cost cost(tt w, tt m, tt g) { return dv::bytes_moved(2 * w.bytes() + 2 * m.bytes() + g.bytes()); }
};
using shard_t = dv::tensor<real, parameters / ranks>;
template <int L> using states = dv::group<dv::state<shard<L>, shard_t, dv::from_store>,
                                          dv::state<moment<L>, dv::tensor<float, 3 * parameters / ranks>, dv::from_store>>;
template <int L> using forward = dv::group<dv::let<full<L>, all_gather<dp>(shard<L>)>, dv::let<x<L + 1>, fwd(x<L>, full<L>)>>;
template <int I> struct backward_of {
    static constexpr int L = layers - 1 - I;
    using type = dv::group<dv::let<again<L>, all_gather<dp>(shard<L>)>, dv::let<dv::values<dx<L>, dw<L>>, bwd(dx<L + 1>, x<L>, again<L>)>,
                           dv::let<mean<L>, reduce_scatter<average, dp>(dw<L>)>>;
};
template <int I> using backward = typename backward_of<I>::type;
struct backward_first {
    using type = dv::group<dv::let<again<0>, all_gather<dp>(shard<0>)>, dv::let<dv::values<dv::discard, dw<0>>, bwd(dx<1>, x<0>, again<0>)>,
                           dv::let<mean<0>, reduce_scatter<average, dp>(dw<0>)>>;
};
template <int L> using learn = dv::update<dv::values<shard<L>, moment<L>>, adam(shard<L>, moment<L>, mean<L>)>;
struct head_loss {
    static constexpr tt result(tt x) { return x; }
    static constexpr dv::cost cost(tt x) { return dv::bytes_moved(4 * x.bytes()); }
};
template <int Tokens>
struct train : dv::graph<dv::mesh<dv::axis<dp, ranks>>, dv::input<x<0>, dv::tensor<real, Tokens, hidden>>, dv::repeat<states, layers>,
                         dv::repeat<forward, layers>, dv::let<dx<layers>, head_loss(x<layers>)>, dv::repeat<backward, layers - 1>,
                         backward_first::type, dv::repeat<learn, layers>> {};

// The prefetch by hand: a gather may begin once the layer `Ahead` + 1 before its own is done, since an operation between shard and gather
// takes that layer's result, and copies the shard.
struct behind {
    static constexpr tt result(tt s, tt) { return s; }
    static constexpr dv::cost cost(tt s, tt) { return dv::bytes_moved(2 * s.bytes()); }
};
template <int Ahead, int L> struct forward_behind {
    using type = dv::group<dv::let<full<L>, all_gather<dp>(behind(shard<L>, x<(L > Ahead ? L - Ahead : 0)>))>,
                           dv::let<x<L + 1>, fwd(x<L>, full<L>)>>;
};
template <int Ahead, int L> struct backward_behind {
    using type =
        dv::group<dv::let<again<L>, all_gather<dp>(behind(shard<L>, dx<(L + 1 + Ahead < layers ? L + 1 + Ahead : layers)>))>,
                  dv::let<dv::values<dx<L>, dw<L>>, bwd(dx<L + 1>, x<L>, again<L>)>, dv::let<mean<L>, reduce_scatter<average, dp>(dw<L>)>>;
};
template <int Ahead> struct backward_behind<Ahead, 0> {
    using type = dv::group<dv::let<again<0>, all_gather<dp>(behind(shard<0>, dx<1 + Ahead>))>,
                           dv::let<dv::values<dv::discard, dw<0>>, bwd(dx<1>, x<0>, again<0>)>,
                           dv::let<mean<0>, reduce_scatter<average, dp>(dw<0>)>>;
};
template <int Ahead> struct bodies {
    template <int L> using forward = typename forward_behind<Ahead, L>::type;
    template <int I> using backward = typename backward_behind<Ahead, layers - 1 - I>::type;
};
template <int Ahead>
struct prefetched : dv::graph<dv::mesh<dv::axis<dp, ranks>>, dv::input<x<0>, dv::tensor<real, tokens, hidden>>, dv::repeat<states, layers>,
                              dv::repeat<bodies<Ahead>::template forward, layers>, dv::let<dx<layers>, head_loss(x<layers>)>,
                              dv::repeat<bodies<Ahead>::template backward, layers>, dv::repeat<learn, layers>> {};
}  // namespace fsdp_8b
std::vector<workloads::workload> workloads::fsdp() {
    using namespace fsdp_8b;
    constexpr std::int64_t megabyte = 1'000'000;
    return {workloads::of<train<tokens>>("FSDP, 8 layers"),
            workloads::of<train<tokens>, workloads::kept>("FSDP, gathers kept"),
            workloads::of<train<256>>("FSDP, 256 tokens"),
            workloads::of<train<256>, workloads::kept>("FSDP, 256 tokens, gathers kept"),
            workloads::of<train<tokens>, workloads::limited<6500 * megabyte>>("FSDP, limit 6.5 GB"),
            workloads::of<train<tokens>, workloads::limited<5700 * megabyte>>("FSDP, limit 5.7 GB"),
            workloads::of<train<tokens>, workloads::limited<5300 * megabyte>>("FSDP, limit 5.3 GB"),
            workloads::of<train<tokens>, workloads::limited<4900 * megabyte>>("FSDP, limit 4.9 GB"),
            workloads::of<prefetched<0>>("FSDP, prefetch by hand, none ahead"),
            workloads::of<prefetched<1>>("FSDP, prefetch by hand, one ahead"),
            workloads::of<prefetched<2>>("FSDP, prefetch by hand, two ahead")};
}
