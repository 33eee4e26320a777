// The graphs of a small GPT for the transformer examples: embeddings of tokens and positions, layers of causal attention and a hidden layer
// with GELU, each behind a layer norm, a head. Trained by AdamW, with the gradients clipped by their global norm.
// With a tied head the logits are products with the rows of the table of tokens, as in GPT-2; else the head has weights of its own.
// `model<Sizes>` has them for the sizes and the element of a model: with another element than float AdamW changes a master of each weight
// in float, of which the weight is the rounded copy; and with fused attention, which needs cuDNN on GPUs, it keeps no probabilities.
//
// Data parallel along the axis dp, each rank with its sequences of the batch, and tensor parallel along tp: each rank has some of the heads
// of an attention and some of the columns of the hidden layer, and an all_reduce adds up what the ranks contribute to the rows. Pipeline
// parallel over the roles stage<0>, stage<1>, ..., each with some of the layers on a mesh dp x tp of its own: ranks along an axis run the
// same statements, stages do not. Micro-batches keep the stages busy at the same time; their gradients are added up before the update.
#pragma once

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/store.hpp>
#include <dovetail/ops/fused_attention.hpp>
#include <dovetail/ops/ops.hpp>

#include "transformer.hpp"
#include "worlds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpt {
namespace dv = dovetail;
using namespace dv::ops;

// The sizes of the model that the examples train, and what its weights and values are made of.
// Rewritten: sequence parallel and with a sharded optimizer, by rewrites.
template <class Element, bool Rewritten = false, bool TiedHead = true>
struct small {
    using element = Element;
    static constexpr int layers = 2;
    static constexpr int size = 64;  // of a token's row
    static constexpr int head_size = 16;
    static constexpr int vocabulary = transformer::vocabulary;
    static constexpr int length = 64;     // tokens of a sequence
    static constexpr int sequences = 16;  // of all ranks together
    static constexpr int deviation = 10;  // one over that of the embeddings and the head at first
    static constexpr bool tied_head = TiedHead;
    static constexpr bool fused_attention = false;
    static constexpr bool sequence_parallel = Rewritten;
    static constexpr bool sharded_update = Rewritten;
};

// Micro-batches of a pipeline of Pp stages, which takes 3 Pp - 1 turns for them: Pp - 1 fill and drain it.
template <int Pp> constexpr int micro_batches = Pp == 1 ? 1 : 2 * Pp;

struct dp;                    // the axis of the ranks that have different sequences
struct tp;                    // the axis of the ranks that have different columns of weights
template <int> struct stage;  // the roles that have different layers
struct tokens;
struct positions;
struct targets;
struct rate;
struct step;
struct limit;
struct share;  // of a micro-batch in the loss
struct token_table;
struct position_table;
struct last_gain;
struct last_bias;
struct head;  // a weight; or, where it is tied and the table of tokens is on another stage, a copy of that
struct mean_loss;
struct factor;
template <int> struct gain1;
template <int> struct bias1;
template <int> struct gain2;
template <int> struct bias2;
template <int> struct wq;
template <int> struct wk;
template <int> struct wv;
template <int> struct wo;
template <int> struct w1;
template <int> struct w2;
template <int, int> struct x;        // of layer L and micro-batch M. 0: the embedded tokens; L + 1: what layer L makes of x<L, M>
template <int, int> struct between;  // after the attention, before the hidden layer
template <int, int> struct normal1;
template <int, int> struct normal2;
template <int, int> struct q;
template <int, int> struct k;
template <int, int> struct v;
template <int, int> struct attended;
template <int, int> struct probabilities;
template <int, int> struct log_sums;  // of fused attention, instead of the probabilities
template <int, int> struct hidden;
template <int, int> struct active;
template <int, int> struct from_q;  // parts of the gradient of normal1
template <int, int> struct from_k;
template <int, int> struct from_v;
template <int> struct last_normal;
template <int> struct logits;
template <int> struct loss;
template <int> struct prediction;
template <class> struct gradient;               // of the loss with respect to a value
template <class, int> struct partial_gradient;  // with respect to a weight, of micro-batch M
template <class> struct mean_gradient;          // of all micro-batches, over dp
template <class> struct mean_of;                // states of AdamW: means of gradients and of their squares
template <class> struct square_of;
template <class> struct master;    // of a weight that is not of float: the weight in float, which AdamW changes
template <int> struct squares_of;  // sums of squares of gradients: of layer L; layers: of the embeddings; layers + 1: of the head

// clang-format off: statements stand as in a program
// The sum of a family of N values as an expression: add(add(family<0>, family<1>), family<2>).
template <template <int> class Family, int N> struct sum_of {
    using type = add(typename sum_of<Family, N - 1>::type, Family<N - 1>);
};
template <template <int> class Family> struct sum_of<Family, 1> {
    using type = Family<0>;
};
template <class Name> struct gradient_of {
    template <int M> using at = partial_gradient<Name, M>;
};

template <class Element, class Tensor> struct of_element;
template <class Element, std::int64_t... Extent> struct of_element<Element, dv::tensor<float, Extent...>> {
    using type = dv::tensor<Element, Extent...>;
};

// The graphs of a model of these sizes.
template <class Sizes>
struct model {
    using element = typename Sizes::element;
    static constexpr int layers = Sizes::layers;
    static constexpr int size = Sizes::size;
    static constexpr int head_size = Sizes::head_size;
    static constexpr int hidden_size = 4 * size;
    static constexpr int vocabulary = Sizes::vocabulary;
    static constexpr int length = Sizes::length;
    static constexpr int sequences = Sizes::sequences;
    static constexpr bool has_masters = !std::is_same_v<element, float>;
    static constexpr bool tied_head = Sizes::tied_head;
    static constexpr bool fused = Sizes::fused_attention;
    static constexpr bool sequence_parallel = Sizes::sequence_parallel;
    static constexpr bool sharded_update = Sizes::sharded_update;

    // What the weights and the values are, of the extents of a tensor of float; and what AdamW changes.
    template <class Tensor> using stored = typename of_element<element, Tensor>::type;
    template <class Name> using trained = std::conditional_t<has_masters, master<Name>, Name>;
    using share_of_gradient = std::conditional_t<has_masters, cast<element>(share), share>;

    // A weight, equal on all ranks of the axes, and where it is trained its states of AdamW. `Tensor` is of float.
    template <bool Trained, class Name, class Tensor, class Initialiser, class... Axis>
    using weight = dv::group<
        dv::state<Name, stored<Tensor>, Initialiser, dv::replicated<Axis>...>,
        dv::when<Trained && has_masters, dv::state<master<Name>, Tensor, Initialiser, dv::replicated<Axis>...>>,
        dv::when<Trained,
                 dv::state<mean_of<Name>, Tensor, zeros, dv::replicated<Axis>...>,
                 dv::state<square_of<Name>, Tensor, zeros, dv::replicated<Axis>...>>>;

    template <bool Trained, class Name> using gain = weight<Trained, Name, dv::tensor<float, size>, constant<1>, dp, tp>;
    template <bool Trained, class Name> using bias = weight<Trained, Name, dv::tensor<float, size>, zeros, dp, tp>;

    // The weights, by the width of tp.
    template <bool Trained, int Tp>
    struct weights {
        template <class Name, int Rows, int Columns>
        using shard = weight<Trained, Name, dv::tensor<float, Rows, Columns>, dv::from_store, dp>;

        template <int L> using of_layer = dv::group<
            gain<Trained, gain1<L>>, bias<Trained, bias1<L>>, gain<Trained, gain2<L>>, bias<Trained, bias2<L>>,
            shard<wq<L>, size, size / Tp>, shard<wk<L>, size, size / Tp>, shard<wv<L>, size, size / Tp>, shard<wo<L>, size / Tp, size>,
            shard<w1<L>, size, hidden_size / Tp>, shard<w2<L>, hidden_size / Tp, size>>;

        using embeddings = dv::group<
            weight<Trained, token_table, dv::tensor<float, vocabulary, size>, normal_init<1, 1, Sizes::deviation>, dp, tp>,
            weight<Trained, position_table, dv::tensor<float, length, size>, normal_init<2, 1, Sizes::deviation>, dp, tp>>;
        using head_and_norm = dv::group<
            dv::when<!tied_head, weight<Trained, head, dv::tensor<float, size, vocabulary>, normal_init<3, 1, Sizes::deviation>, dp, tp>>,
            gain<Trained, last_gain>, bias<Trained, last_bias>>;
        using all = dv::group<dv::repeat<of_layer, layers>, embeddings, head_and_norm>;

        // On the stages of a pipeline, by layer.
        template <template <int> class Stage> struct on_stages {
            template <int L> using layer = dv::on<Stage<L>, of_layer<L>>;
            using all = dv::group<dv::repeat<layer, layers>, dv::on<Stage<0>, embeddings>, dv::on<Stage<layers - 1>, head_and_norm>>;
        };
    };

    template <int M, class Tokens, class Positions> using embed =
        dv::let<x<0, M>, add(embedding(Tokens, token_table), embedding(Positions, position_table))>;

    // Sequence parallel: each all_reduce along tp is a reduce_scatter and an all_gather, with the additions and norms between them on the
    // rank's rows.
    template <class... Statement> using by_rows =
        std::conditional_t<sequence_parallel, dv::decompose<Statement...>, dv::group<Statement...>>;

    template <int L, int M> using forward_layer = by_rows<
        dv::let<normal1<L, M>, layer_norm(x<L, M>, gain1<L>, bias1<L>)>,
        dv::let<q<L, M>, matmul(normal1<L, M>, wq<L>)>, dv::let<k<L, M>, matmul(normal1<L, M>, wk<L>)>,
        dv::let<v<L, M>, matmul(normal1<L, M>, wv<L>)>,
        dv::let<between<L, M>, add(x<L, M>, all_reduce<sum, tp>(matmul(attended<L, M>, wo<L>)))>,
        dv::let<normal2<L, M>, layer_norm(between<L, M>, gain2<L>, bias2<L>)>,
        dv::let<hidden<L, M>, matmul(normal2<L, M>, w1<L>)>, dv::let<active<L, M>, gelu(hidden<L, M>)>,
        dv::let<x<L + 1, M>, add(between<L, M>, all_reduce<sum, tp>(matmul(active<L, M>, w2<L>)))>>;

    // The head is [size, vocabulary]; the table of tokens, of a tied one, [vocabulary, size].
    template <int Stages> using tied = std::conditional_t<Stages == 1, token_table, head>;
    template <int M, int Stages> using read_out = dv::group<
        dv::let<last_normal<M>, layer_norm(x<layers, M>, last_gain, last_bias)>,
        dv::let<logits<M>, std::conditional_t<tied_head, matmul_nt(last_normal<M>, tied<Stages>), matmul(last_normal<M>, head)>>>;

    // Of the whole batch, without a pipeline.
    template <int L> using only_forward_layer = forward_layer<L, 0>;
    using forward = dv::group<embed<0, tokens, positions>, dv::repeat<only_forward_layer, layers>, read_out<0, 1>>;

    template <int L, int M> using attention = std::conditional_t<fused,
        fused_causal_attention<length, head_size>(q<L, M>, k<L, M>, v<L, M>),
        causal_attention<length, head_size>(q<L, M>, k<L, M>, v<L, M>)>;
    template <int L, int M> using kept_for_gradient = std::conditional_t<fused, log_sums<L, M>, probabilities<L, M>>;
    template <int L> using attend_only = dv::let<dv::values<attended<L, 0>, dv::discard>, attention<L, 0>>;
    template <int L, int M> using attend = dv::let<dv::values<attended<L, M>, kept_for_gradient<L, M>>, attention<L, M>>;
    template <int L, int M> using gradient_of_attention = std::conditional_t<fused,
        fused_causal_attention_gradient<length, head_size>(gradient<attended<L, M>>, q<L, M>, k<L, M>, v<L, M>, attended<L, M>,
                                                           log_sums<L, M>),
        causal_attention_gradient<length, head_size>(gradient<attended<L, M>>, q<L, M>, k<L, M>, v<L, M>, probabilities<L, M>)>;

    template <int L, int M> using backward_layer = by_rows<
        dv::let<gradient<active<L, M>>, matmul_nt(gradient<x<L + 1, M>>, w2<L>)>,
        dv::let<gradient<hidden<L, M>>, gelu_gradient(gradient<active<L, M>>, hidden<L, M>)>,
        dv::let<gradient<normal2<L, M>>, all_reduce<sum, tp>(matmul_nt(gradient<hidden<L, M>>, w1<L>))>,
        dv::let<gradient<between<L, M>>, add(gradient<x<L + 1, M>>, layer_norm_gradient(gradient<normal2<L, M>>, between<L, M>, gain2<L>))>,
        dv::let<gradient<attended<L, M>>, matmul_nt(gradient<between<L, M>>, wo<L>)>,
        dv::let<dv::values<gradient<q<L, M>>, gradient<k<L, M>>, gradient<v<L, M>>>, gradient_of_attention<L, M>>,
        dv::let<from_q<L, M>, matmul_nt(gradient<q<L, M>>, wq<L>)>, dv::let<from_k<L, M>, matmul_nt(gradient<k<L, M>>, wk<L>)>,
        dv::let<from_v<L, M>, matmul_nt(gradient<v<L, M>>, wv<L>)>,
        dv::let<gradient<normal1<L, M>>, all_reduce<sum, tp>(add(add(from_q<L, M>, from_k<L, M>), from_v<L, M>))>,
        dv::let<gradient<x<L, M>>, add(gradient<between<L, M>>, layer_norm_gradient(gradient<normal1<L, M>>, x<L, M>, gain1<L>))>>;

    template <int L, int M> using gradients_of_weights = dv::group<
        dv::let<partial_gradient<w2<L>, M>, matmul_tn(active<L, M>, gradient<x<L + 1, M>>)>,
        dv::let<partial_gradient<w1<L>, M>, matmul_tn(normal2<L, M>, gradient<hidden<L, M>>)>,
        dv::let<dv::values<partial_gradient<gain2<L>, M>, partial_gradient<bias2<L>, M>>,
                layer_norm_parameter_gradients(gradient<normal2<L, M>>, between<L, M>)>,
        dv::let<partial_gradient<wo<L>, M>, matmul_tn(attended<L, M>, gradient<between<L, M>>)>,
        dv::let<partial_gradient<wq<L>, M>, matmul_tn(normal1<L, M>, gradient<q<L, M>>)>,
        dv::let<partial_gradient<wk<L>, M>, matmul_tn(normal1<L, M>, gradient<k<L, M>>)>,
        dv::let<partial_gradient<wv<L>, M>, matmul_tn(normal1<L, M>, gradient<v<L, M>>)>,
        dv::let<dv::values<partial_gradient<gain1<L>, M>, partial_gradient<bias1<L>, M>>,
                layer_norm_parameter_gradients(gradient<normal1<L, M>>, x<L, M>)>>;

    template <int M, int N> using gradient_of_logits = std::conditional_t<N == 1,
        softmax_cross_entropy_gradient(prediction<M>, targets),
        scale(softmax_cross_entropy_gradient(prediction<M>, rows<M, N>(targets)), share_of_gradient)>;

    template <int M, int N, int Stages> using backward_head = dv::group<
        dv::let<gradient<logits<M>>, gradient_of_logits<M, N>>,
        dv::let<partial_gradient<head, M>, std::conditional_t<tied_head, matmul_tn(gradient<logits<M>>, last_normal<M>),
                                                              matmul_tn(last_normal<M>, gradient<logits<M>>)>>,
        dv::let<gradient<last_normal<M>>, std::conditional_t<tied_head, matmul(gradient<logits<M>>, tied<Stages>),
                                                             matmul_nt(gradient<logits<M>>, head)>>,
        dv::let<dv::values<partial_gradient<last_gain, M>, partial_gradient<last_bias, M>>,
                layer_norm_parameter_gradients(gradient<last_normal<M>>, x<layers, M>)>,
        dv::let<gradient<x<layers, M>>, layer_norm_gradient(gradient<last_normal<M>>, x<layers, M>, last_gain)>>;

    template <int M, int N> using gradients_of_embeddings = dv::group<
        dv::let<partial_gradient<token_table, M>, embedding_gradient<vocabulary>(gradient<x<0, M>>, rows<M, N>(tokens))>,
        dv::let<partial_gradient<position_table, M>, embedding_gradient<length>(gradient<x<0, M>>, rows<M, N>(positions))>>;

    // A training step from the gradients of N micro-batches on.
    template <int N> struct updates {
        template <class Name> using sum_of_parts = typename sum_of<gradient_of<Name>::template at, N>::type;
        // The gradient of the table of tokens has a part from the head that is tied to it, added up on the head's stage.
        using part_of_head = std::conditional_t<N == 1, partial_gradient<head, 0>, gradient<head>>;
        template <class Name> using whole_gradient =
            std::conditional_t<tied_head && std::is_same_v<Name, token_table>, add(sum_of_parts<Name>, part_of_head), sum_of_parts<Name>>;
        template <class Name> using update = dv::group<
            dv::let<mean_gradient<Name>, all_reduce<average, dp>(whole_gradient<Name>)>,
            dv::update<dv::values<trained<Name>, mean_of<Name>, square_of<Name>>,
                       adam_w<1, 100, 900, 990>(trained<Name>, mean_of<Name>, square_of<Name>, mean_gradient<Name>, rate, step, factor)>>;
        template <class Name> using round = dv::when<has_masters, dv::update<Name, cast<element>(trained<Name>)>>;
        template <class... Name> using each = dv::group<dv::group<update<Name>, round<Name>>...>;
        // With a sharded optimizer each rank along dp updates its rows of these weights and of their states.
        template <class... Name> using each_matrix =
            std::conditional_t<sharded_update, dv::group<dv::shard_update<update<Name>...>, round<Name>...>, each<Name...>>;

        // With the squares of shards added up over the ranks that have different ones.
        template <int L> using of_layer = dv::group<
            each<gain1<L>, bias1<L>, gain2<L>, bias2<L>>, each_matrix<wq<L>, wk<L>, wv<L>, wo<L>, w1<L>, w2<L>>,
            dv::let<squares_of<L>, add(
                all_reduce<sum, tp>(sum_of_squares(mean_gradient<wq<L>>, mean_gradient<wk<L>>, mean_gradient<wv<L>>, mean_gradient<wo<L>>,
                                                   mean_gradient<w1<L>>, mean_gradient<w2<L>>)),
                sum_of_squares(mean_gradient<gain1<L>>, mean_gradient<bias1<L>>, mean_gradient<gain2<L>>, mean_gradient<bias2<L>>))>>;
        using of_embeddings = dv::group<
            each<token_table, position_table>,
            dv::let<squares_of<layers>, sum_of_squares(mean_gradient<token_table>, mean_gradient<position_table>)>>;
        using of_head = dv::group<
            each<last_gain, last_bias>,
            dv::when<tied_head, dv::when<(N > 1), dv::let<gradient<head>, sum_of_parts<head>>>,
                     dv::let<squares_of<layers + 1>, sum_of_squares(mean_gradient<last_gain>, mean_gradient<last_bias>)>>,
            dv::when<!tied_head, each<head>,
                     dv::let<squares_of<layers + 1>,
                             sum_of_squares(mean_gradient<head>, mean_gradient<last_gain>, mean_gradient<last_bias>)>>,
            dv::let<factor, clip_factor(typename sum_of<squares_of, layers + 2>::type, limit)>,
            dv::let<mean_loss, all_reduce<average, dp>(scale(typename sum_of<loss, N>::type, share))>>;
    };

    // A pipeline of Pp stages: the first stage has the embeddings, the last one the head and the loss.
    template <int Pp> struct pipelined {
        static_assert(layers % Pp == 0, "all stages have as many layers");
        static constexpr int N = micro_batches<Pp>;
        static constexpr int layers_of_stage = layers / Pp;
        template <int L> using stage_of = stage<L / layers_of_stage>;
        template <int C, int M> struct cell {
            template <int I> using forward = dv::group<forward_layer<C * layers_of_stage + I, M>, attend<C * layers_of_stage + I, M>>;
            template <int I> using backward =
                dv::group<backward_layer<C * layers_of_stage + I, M>, gradients_of_weights<C * layers_of_stage + I, M>>;
        };
        template <int C, int M> using forward = dv::group<
            dv::when<C == 0, embed<M, rows<M, N>(tokens), rows<M, N>(positions)>>,
            dv::repeat<cell<C, M>::template forward, layers_of_stage>,
            dv::when<C == Pp - 1, read_out<M, Pp>,
                     dv::let<dv::values<loss<M>, prediction<M>>, softmax_cross_entropy(logits<M>, rows<M, N>(targets))>>>;
        template <int C, int M> using backward = dv::group<
            dv::when<C == Pp - 1, backward_head<M, N, Pp>>,
            dv::repeat<cell<C, M>::template backward, dv::down<layers_of_stage>>,
            dv::when<C == 0, gradients_of_embeddings<M, N>>>;
        template <int L> using update_layer = dv::on<stage_of<L>, typename updates<N>::template of_layer<L>>;
        using update_all = dv::group<dv::repeat<update_layer, layers>, dv::on<stage<0>, typename updates<N>::of_embeddings>,
                                     dv::on<stage<Pp - 1>, typename updates<N>::of_head>>;
    };

    // On Dp x Tp ranks of each of Pp stages.
    template <int Dp, int Tp, int Pp = 1>
    struct train : dv::graph<
        dv::mesh<dv::axis<dp, Dp>, dv::axis<tp, Tp>>,
        dv::input<tokens, dv::tensor<std::int32_t, sequences / Dp * length>, dv::replicated<tp>>,
        dv::input<targets, dv::tensor<std::int32_t, sequences / Dp * length>, dv::replicated<tp>>,
        dv::input<positions, dv::tensor<std::int32_t, sequences / Dp * length>, dv::replicated<dp>, dv::replicated<tp>>,
        dv::input<rate, dv::scalar<float>, dv::replicated<dp>, dv::replicated<tp>>,
        dv::input<step, dv::scalar<std::int32_t>, dv::replicated<dp>, dv::replicated<tp>>,
        dv::input<limit, dv::scalar<float>, dv::replicated<dp>, dv::replicated<tp>>,
        dv::input<share, dv::scalar<float>, dv::replicated<dp>, dv::replicated<tp>>,
        typename weights<true, Tp>::template on_stages<pipelined<Pp>::template stage_of>::all,
        dv::when<tied_head && (Pp > 1), dv::on<stage<0>, dv::let<head, copy(token_table)>>>,
        dv::pipeline<Pp, micro_batches<Pp>, dv::one_f_one_b, stage, pipelined<Pp>::template forward, pipelined<Pp>::template backward>,
        typename pipelined<Pp>::update_all,
        dv::output<mean_loss>> {
        static_assert(sequences % Dp == 0, "all ranks along dp have as many sequences");
    };
};

// clang-format on

// On the host, copy engines move what passes between stages: on the stream of the collectives it would wait for those of the next
// micro-batch. On GPUs the planner chooses.
template <int Ranks, class World>
using plan_options =
    std::conditional_t<World::on_gpus, dv::options<dv::machine::h200_nvlink, dv::channel_transport<dv::transport::automatic>>,
                       dv::options<worlds::two_cores<Ranks>, dv::channel_transport<dv::transport::peer_copy>>>;

// Where a rank is: ranks are numbered by stage, then along dp, then along tp.
struct place {
    int stage, dp, tp;
};
template <int Dp, int Tp>
place place_of(int rank) {
    return {rank / (Dp * Tp), rank / Tp % Dp, rank % Tp};
}

// Runs step `i` of a training, from 1 on, with the sequences of the rank with this index on dp. Returns the ticket.
template <class Model, int Dp, int Pp, class Executor>
auto train_step(Executor& learn, const transformer::text& text, int i, int index) {
    static_assert(Model::sequences % Dp == 0, "all ranks along dp have as many sequences");
    constexpr int mine = Model::sequences / Dp;
    const transformer::batch b = transformer::draw(text, i, index * mine, mine, Model::length);
    learn.bind(dv::name<tokens>, b.inputs).bind(dv::name<targets>, b.targets);
    learn.bind(dv::name<positions>, transformer::positions(mine, Model::length));
    learn.bind(dv::name<step>, i).bind(dv::name<limit>, 1.0f).bind(dv::name<share>, 1.0f / micro_batches<Pp>);
    learn.bind(dv::name<rate>, 4e-3f * std::min(1.0f, static_cast<float>(i) / 20));
    return learn.run();
}

// Writes the first values of the matrices that are divided over tp: the rank's columns, or rows, of random matrices [rows, columns] that
// are the same for every width.
template <class Model, int Tp>
class first_weights {
public:
    first_weights(dv::store& store, place at) : store_{store}, at_{at} {}

    // Those of the layers of its stage of Pp.
    template <int Pp>
    void write() {
        write_if<Pp>(std::make_integer_sequence<int, Model::layers>{});
    }

private:
    static constexpr int size = Model::size, hidden_size = Model::hidden_size;

    template <int Pp, int... L>
    void write_if(std::integer_sequence<int, L...>) {
        ((at_.stage == L / (Model::layers / Pp) ? write_layer<L>() : void()), ...);
    }
    template <int L>
    void write_layer() {
        write_columns<wq<L>, size, size>(10 * L + 1);
        write_columns<wk<L>, size, size>(10 * L + 2);
        write_columns<wv<L>, size, size>(10 * L + 3);
        write_rows<wo<L>, size, size>(10 * L + 4);
        write_columns<w1<L>, size, hidden_size>(10 * L + 5);
        write_rows<w2<L>, hidden_size, size>(10 * L + 6);
    }
    template <class Name, int Rows, int Columns>
    void write_columns(int seed) {
        constexpr int mine = Columns / Tp;
        const transformer::block of_rank{Rows, Columns, 0, Rows, at_.tp * mine, mine};
        write<Name, Rows, mine>(transformer::random_block(seed, 1 / std::sqrt(Rows), of_rank));
    }
    template <class Name, int Rows, int Columns>
    void write_rows(int seed) {
        constexpr int mine = Rows / Tp;
        const transformer::block of_rank{Rows, Columns, at_.tp * mine, mine, 0, Columns};
        // Smaller, since the results of all layers are added
        const double deviation = 1 / std::sqrt(Rows * 2.0 * Model::layers);
        write<Name, mine, Columns>(transformer::random_block(seed, deviation, of_rank));
    }
    template <class Name, int Rows, int Columns>
    void write(const std::vector<float>& values) {
        using element = typename Model::element;
        store_.write<dv::tensor<element, Rows, Columns>>(dv::name<Name>, std::vector<element>(values.begin(), values.end()));
        if constexpr (Model::has_masters) store_.write<dv::tensor<float, Rows, Columns>>(dv::name<master<Name>>, values);
    }

    dv::store& store_;
    const place at_;
};

}  // namespace gpt
