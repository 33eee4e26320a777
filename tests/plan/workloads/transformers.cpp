// Transformers: tensor parallelism in one, two and four micro-batches, a mixture of experts, ring attention, a prefill that sends its
// key-value cache to a decode, a decoding step, and activations that are offloaded to the host for the backward pass.
#include "workload.hpp"

namespace tf {
using namespace workloads::op;
using namespace dv::ops;
using real = dv::bfloat16;
constexpr int hidden = 8192, seq = 2048;

// Tensor parallelism, 70B on 4: an all_reduce behind each row-parallel product.
struct tp;
template <int> struct w_qkv;
template <int> struct w_o;
template <int> struct w_up;
template <int> struct w_down;
template <int> struct w_square;
template <int, int> struct x;
template <int, int> struct mid;
using core70 = attention<seq, 16, 2, 128>;
template <int L> using weights = dv::group<dv::state<w_qkv<L>, dv::tensor<real, hidden, 2560>, dv::from_store>,
                                           dv::state<w_o<L>, dv::tensor<real, 2048, hidden>, dv::from_store>,
                                           dv::state<w_up<L>, dv::tensor<real, hidden, 14336>, dv::from_store>,
                                           dv::state<w_down<L>, dv::tensor<real, 7168, hidden>, dv::from_store>>;
template <int L, int C> using layer = dv::group<
    dv::let<mid<L, C>, plus(x<L, C>, all_reduce<sum, tp>(mm(core70(mm(rms_norm(x<L, C>), w_qkv<L>)), w_o<L>)))>,
    dv::let<x<L + 1, C>, plus(mid<L, C>, all_reduce<sum, tp>(mm(glu(mm(rms_norm(mid<L, C>), w_up<L>)), w_down<L>)))>>;
template <int Tokens, int Chunks> struct feed {
    template <int C> using body = dv::input<x<0, C>, dv::tensor<real, Tokens / Chunks, hidden>>;
};
template <int Layers> struct last {
    template <int C> using of = x<Layers, C>;
};
template <int Chunks>
struct tensor_parallel : dv::graph<dv::mesh<dv::axis<tp, 4>>, dv::repeat<feed<8192, Chunks>::template body, Chunks>, dv::repeat<weights, 4>,
                                   dv::repeat<layer, 4, Chunks>, dv::output<dv::all<Chunks, last<4>::template of>>> {};
// The same from tokens on: each rank has a part of the vocabulary, and the residual stream begins with the sum of what they look up. In
// blocks, each of one sequence, and without (one block).
struct embedded;
template <int L> using whole_layer = layer<L, 0>;
template <int Blocks>
struct from_tokens
    : dv::graph<dv::mesh<dv::axis<tp, 4>>, dv::input<embedded, dv::tensor<real, 8192, hidden>>, dv::repeat<weights, 4>,
                dv::split<Blocks, dv::let<x<0, 0>, all_reduce<sum, tp>(embedded)>, dv::repeat<whole_layer, 4>>, dv::output<x<4, 0>>> {};

// One token of each of 64 sequences: products that read their weights, and small all_reduces.
template <int L> using decode_layer70 = dv::group<
    dv::let<mid<L, 0>, plus(x<L, 0>, all_reduce<sum, tp>(mm(takes<15>(rms_norm(x<L, 0>)), w_square<L>)))>,
    dv::let<x<L + 1, 0>, plus(mid<L, 0>, all_reduce<sum, tp>(mm(glu(mm(rms_norm(mid<L, 0>), w_up<L>)), w_down<L>)))>>;
template <int L> using decode_weights = dv::group<dv::state<w_square<L>, dv::tensor<real, hidden, hidden>, dv::from_store>,
                                                  dv::state<w_up<L>, dv::tensor<real, hidden, 14336>, dv::from_store>,
                                                  dv::state<w_down<L>, dv::tensor<real, 7168, hidden>, dv::from_store>>;
struct decoding_step : dv::graph<dv::mesh<dv::axis<tp, 4>>, dv::input<x<0, 0>, dv::tensor<real, 64, hidden>>, dv::repeat<decode_weights, 8>,
                                 dv::repeat<decode_layer70, 8>, dv::output<x<8, 0>>> {};

// A mixture of experts on 8: tokens to their experts, two products, and back.
struct ep;
template <int> struct expert_up;
template <int> struct expert_down;
template <int, int> struct back;
template <int L> using expert_weights = dv::group<dv::state<expert_up<L>, dv::tensor<real, 4096, 14336>, dv::from_store>,
                                                  dv::state<expert_down<L>, dv::tensor<real, 14336, 4096>, dv::from_store>>;
template <int L, int C> using expert_layer =
    dv::group<dv::let<back<L, C>, all_to_all<ep>(mm(act(mm(all_to_all<ep>(rms_norm(x<L, C>)), expert_up<L>)), expert_down<L>))>,
              dv::let<x<L + 1, C>, plus(x<L, C>, back<L, C>)>>;
template <int Tokens, int Chunks> struct feed_experts {
    template <int C> using body = dv::input<x<0, C>, dv::tensor<real, Tokens / Chunks, 4096>>;
};
template <int Chunks>
struct experts
    : dv::graph<dv::mesh<dv::axis<ep, 8>>, dv::repeat<feed_experts<16384, Chunks>::template body, Chunks>, dv::repeat<expert_weights, 4>,
                dv::repeat<expert_layer, 4, Chunks>, dv::output<dv::all<Chunks, last<4>::template of>>> {};

template <int L> using dispatched_layer = dv::group<
    dv::let<back<L, 0>, combine(all_to_all<ep>(
                            expert_mm(act(expert_mm(all_to_all<ep>(dispatch<8>(rms_norm(x<L, 0>))), expert_up<L>)), expert_down<L>)))>,
    dv::let<x<L + 1, 0>, plus(x<L, 0>, back<L, 0>)>>;
// The same with tokens by expert and place: an exchange moves along the first extent, blocks are of the second.
struct dispatched
    : dv::graph<dv::mesh<dv::axis<ep, 8>>, dv::input<x<0, 0>, dv::tensor<real, 16384, 4096>>, dv::repeat<expert_weights, 4>,
                dv::repeat<dispatched_layer, 4>, dv::output<x<4, 0>>> {};

// Ring attention on 8: keys and values go round while each rank attends to those that it has.
struct cp;
struct queries;
template <int> struct keys;
template <int> struct attended;
struct attend {
    static constexpr tt result(tt q, tt kv) { return kv.extent[0] == q.extent[0] ? q : tt{}; }
    static constexpr tt result(tt q, tt kv, tt) { return result(q, kv); }
    static constexpr dv::cost cost(tt q, tt kv) { return {4 * q.extent[0] * kv.extent[0] * q.extent[1], q.bytes() + kv.bytes(), q.type}; }
    static constexpr dv::cost cost(tt q, tt kv, tt) { return cost(q, kv); }
};
template <int I> using pass_on = dv::let<keys<I + 1>, shift<cp, +1>(keys<I>)>;
template <int I> using attend_next = dv::let<attended<I + 1>, attend(queries, keys<I + 1>, attended<I>)>;
struct ring_attention
    : dv::graph<dv::mesh<dv::axis<cp, 8>>, dv::input<queries, dv::tensor<real, 8192, 4096>>,
                dv::input<keys<0>, dv::tensor<real, 8192, 1024>>, dv::let<attended<0>, attend(queries, keys<0>)>,
                dv::repeat<pass_on, 7>, dv::repeat<attend_next, 7>, dv::output<attended<7>>> {};

// A prefill of 8 layers that sends keys and values, layer by layer, to the role that decodes.
struct prefill;
struct decode;
template <int> struct h;
template <int> struct w_kv;
template <int> struct kv;
template <int> struct token;
template <int L> using kv_weights = dv::state<w_kv<L>, dv::tensor<real, hidden, 2048>, dv::from_store>;
template <int L> using prefill_layer = dv::group<dv::let<kv<L>, mm(h<L>, w_kv<L>)>, dv::let<h<L + 1>, takes<900>(h<L>, kv<L>)>>;
template <int L> using decode_layer = dv::let<token<L + 1>, takes<30>(token<L>, kv<L>)>;
struct prefill_and_decode
    : dv::graph<dv::on<prefill, dv::input<h<0>, dv::tensor<real, 8192, hidden>>, dv::repeat<kv_weights, 8>, dv::repeat<prefill_layer, 8>>,
                dv::on<decode, dv::input<token<0>, dv::tensor<real, 1, hidden>>, dv::repeat<decode_layer, 8>>,
                dv::output<h<8>, token<8>>> {};

// Activations offloaded to the host in the forward pass, and back for the backward pass.
template <int> struct on_host;
template <int> struct slope;
template <int L> using forward = dv::group<dv::let<h<L + 1>, takes<2000>(h<L>)>, dv::let<on_host<L>, to_host(h<L>)>>;
template <int L> using backward = dv::let<slope<L>, takes<4000>(slope<L + 1>, from_host(on_host<L>))>;
struct offload : dv::graph<dv::input<h<0>, dv::tensor<real, 8192, hidden>>, dv::repeat<forward, 8>, dv::let<slope<8>, act(h<8>)>,
                           dv::repeat<backward, dv::down<8>>, dv::output<slope<0>>> {};
}  // namespace tf
std::vector<workloads::workload> workloads::transformers() {
    using namespace tf;
    return {workloads::of<tensor_parallel<1>>("tensor parallel, 70B on 4"),
            workloads::of<tensor_parallel<2>>("tensor parallel, two micro-batches"),
            workloads::of<tensor_parallel<4>>("tensor parallel, four micro-batches"),
            workloads::of<from_tokens<1>>("tensor parallel from tokens"),
            workloads::of<from_tokens<1>, workloads::decomposed>("tensor parallel from tokens, decomposed"),
            workloads::of<from_tokens<4>>("tensor parallel, 4 blocks"),
            workloads::of<from_tokens<4>, workloads::decomposed>("tensor parallel, 4 blocks, decomposed"),
            workloads::of<decoding_step>("tensor parallel, decoding"),
            workloads::of<experts<1>>("mixture of experts on 8"),
            workloads::of<experts<2>>("mixture of experts, two micro-batches"),
            workloads::of<experts<4>>("mixture of experts, four micro-batches"),
            workloads::of<dispatched>("mixture of experts, by expert and place"),
            workloads::of<ring_attention>("ring attention on 8"),
            workloads::of<prefill_and_decode>("prefill and decode"),
            workloads::of<offload>("offloaded activations")};
}
