// The graphs of a small GPT for the transformer examples: embeddings of tokens and positions, layers of causal attention and a hidden layer
// with GELU, each behind a layer norm, a head. Trained by AdamW, with the gradients clipped by their global norm.
//
// Data parallel along the axis dp, each rank with its sequences of the batch, and tensor parallel along tp: each rank has some of the heads
// of an attention and some of the columns of the hidden layer, and an all_reduce adds up what the ranks contribute to the rows.
#pragma once

#include <dovetail/dovetail.hpp>
#include <dovetail/launch/store.hpp>
#include <dovetail/ops/ops.hpp>

#include "transformer.hpp"
#include "worlds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace gpt {
namespace dv = dovetail;
using namespace dv::ops;

constexpr int layers = 2;
constexpr int size = 64;  // of a token's row
constexpr int head_size = 16;
constexpr int hidden_size = 4 * size;
constexpr int length = 64;     // tokens of a sequence
constexpr int sequences = 16;  // of all ranks together
using transformer::vocabulary;

struct dp;  // the axis of the ranks that have different sequences
struct tp;  // the axis of the ranks that have different columns of weights
struct tokens;
struct positions;
struct targets;
struct rate;
struct step;
struct limit;
struct token_table;
struct position_table;
struct last_gain;
struct last_bias;
struct head;
struct last_normal;
struct logits;
struct loss;
struct mean_loss;
struct prediction;
struct squares;
struct factor;
template <int> struct x;        // 0: the embedded tokens; L + 1: what layer L makes of x<L>
template <int> struct between;  // after the attention, before the hidden layer
template <int> struct normal1;
template <int> struct normal2;
template <int> struct gain1;
template <int> struct bias1;
template <int> struct gain2;
template <int> struct bias2;
template <int> struct q;
template <int> struct k;
template <int> struct v;
template <int> struct attended;
template <int> struct probabilities;
template <int> struct hidden;
template <int> struct active;
template <int> struct wq;
template <int> struct wk;
template <int> struct wv;
template <int> struct wo;
template <int> struct w1;
template <int> struct w2;
template <int> struct from_q;  // parts of the gradient of normal1
template <int> struct from_k;
template <int> struct from_v;
template <class> struct gradient;       // of the loss with respect to a value or a weight
template <class> struct mean_gradient;  // over dp
template <class> struct mean_of;        // states of AdamW: means of gradients and of their squares
template <class> struct square_of;

// clang-format off: statements stand as in a program
// A weight, equal on all ranks of the axes, and where it is trained its states of AdamW.
template <bool Trained, class Name, class Tensor, class Initialiser, class... Axis>
using weight = dv::group<
    dv::state<Name, Tensor, Initialiser, dv::replicated<Axis>...>,
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

    using all = dv::group<
        dv::repeat<of_layer, layers>,
        weight<Trained, token_table, dv::tensor<float, vocabulary, size>, normal_init<1, 1, 10>, dp, tp>,
        weight<Trained, position_table, dv::tensor<float, length, size>, normal_init<2, 1, 10>, dp, tp>,
        weight<Trained, head, dv::tensor<float, size, vocabulary>, normal_init<3, 1, 10>, dp, tp>,
        gain<Trained, last_gain>, bias<Trained, last_bias>>;
};

template <int L> using forward_layer = dv::group<
    dv::let<normal1<L>, layer_norm(x<L>, gain1<L>, bias1<L>)>,
    dv::let<q<L>, matmul(normal1<L>, wq<L>)>, dv::let<k<L>, matmul(normal1<L>, wk<L>)>, dv::let<v<L>, matmul(normal1<L>, wv<L>)>,
    dv::let<between<L>, add(x<L>, all_reduce<sum, tp>(matmul(attended<L>, wo<L>)))>,
    dv::let<normal2<L>, layer_norm(between<L>, gain2<L>, bias2<L>)>,
    dv::let<hidden<L>, matmul(normal2<L>, w1<L>)>, dv::let<active<L>, gelu(hidden<L>)>,
    dv::let<x<L + 1>, add(between<L>, all_reduce<sum, tp>(matmul(active<L>, w2<L>)))>>;

using forward = dv::group<
    dv::let<x<0>, add(embedding(tokens, token_table), embedding(positions, position_table))>,
    dv::repeat<forward_layer, layers>,
    dv::let<last_normal, layer_norm(x<layers>, last_gain, last_bias)>,
    dv::let<logits, matmul(last_normal, head)>>;

template <int L> using attend = dv::let<dv::values<attended<L>, probabilities<L>>, causal_attention<length, head_size>(q<L>, k<L>, v<L>)>;
template <int L> using attend_only = dv::let<dv::values<attended<L>, dv::discard>, causal_attention<length, head_size>(q<L>, k<L>, v<L>)>;

template <int L> using backward_layer = dv::group<
    dv::let<gradient<active<L>>, matmul_nt(gradient<x<L + 1>>, w2<L>)>,
    dv::let<gradient<hidden<L>>, gelu_gradient(gradient<active<L>>, hidden<L>)>,
    dv::let<gradient<normal2<L>>, all_reduce<sum, tp>(matmul_nt(gradient<hidden<L>>, w1<L>))>,
    dv::let<gradient<between<L>>, add(gradient<x<L + 1>>, layer_norm_gradient(gradient<normal2<L>>, between<L>, gain2<L>))>,
    dv::let<gradient<attended<L>>, matmul_nt(gradient<between<L>>, wo<L>)>,
    dv::let<dv::values<gradient<q<L>>, gradient<k<L>>, gradient<v<L>>>,
            causal_attention_gradient<length, head_size>(gradient<attended<L>>, q<L>, k<L>, v<L>, probabilities<L>)>,
    dv::let<from_q<L>, matmul_nt(gradient<q<L>>, wq<L>)>, dv::let<from_k<L>, matmul_nt(gradient<k<L>>, wk<L>)>,
    dv::let<from_v<L>, matmul_nt(gradient<v<L>>, wv<L>)>,
    dv::let<gradient<normal1<L>>, all_reduce<sum, tp>(add(add(from_q<L>, from_k<L>), from_v<L>))>,
    dv::let<gradient<x<L>>, add(gradient<between<L>>, layer_norm_gradient(gradient<normal1<L>>, x<L>, gain1<L>))>>;

template <int L> using gradients_of_weights = dv::group<
    dv::let<gradient<w2<L>>, matmul_tn(active<L>, gradient<x<L + 1>>)>,
    dv::let<gradient<w1<L>>, matmul_tn(normal2<L>, gradient<hidden<L>>)>,
    dv::let<dv::values<gradient<gain2<L>>, gradient<bias2<L>>>, layer_norm_parameter_gradients(gradient<normal2<L>>, between<L>)>,
    dv::let<gradient<wo<L>>, matmul_tn(attended<L>, gradient<between<L>>)>,
    dv::let<gradient<wq<L>>, matmul_tn(normal1<L>, gradient<q<L>>)>,
    dv::let<gradient<wk<L>>, matmul_tn(normal1<L>, gradient<k<L>>)>,
    dv::let<gradient<wv<L>>, matmul_tn(normal1<L>, gradient<v<L>>)>,
    dv::let<dv::values<gradient<gain1<L>>, gradient<bias1<L>>>, layer_norm_parameter_gradients(gradient<normal1<L>>, x<L>)>>;

using backward = dv::group<
    dv::let<gradient<logits>, softmax_cross_entropy_gradient(prediction, targets)>,
    dv::let<gradient<head>, matmul_tn(last_normal, gradient<logits>)>,
    dv::let<gradient<last_normal>, matmul_nt(gradient<logits>, head)>,
    dv::let<dv::values<gradient<last_gain>, gradient<last_bias>>, layer_norm_parameter_gradients(gradient<last_normal>, x<layers>)>,
    dv::let<gradient<x<layers>>, layer_norm_gradient(gradient<last_normal>, x<layers>, last_gain)>,
    dv::repeat<backward_layer, dv::down<layers>>, dv::repeat<gradients_of_weights, dv::down<layers>>,
    dv::let<gradient<token_table>, embedding_gradient<vocabulary>(gradient<x<0>>, tokens)>,
    dv::let<gradient<position_table>, embedding_gradient<length>(gradient<x<0>>, positions)>>;

template <class Name> using average_gradient = dv::let<mean_gradient<Name>, all_reduce<average, dp>(gradient<Name>)>;
template <class Name> using update_weight = dv::update<
    dv::values<Name, mean_of<Name>, square_of<Name>>,
    adam_w<1, 100, 900, 990>(Name, mean_of<Name>, square_of<Name>, mean_gradient<Name>, rate, step, factor)>;

// The same statement for each of several weights.
template <template <class> class Statement, class... Name> using each = dv::group<Statement<Name>...>;
template <template <class> class Statement, int L> using each_of_layer =
    each<Statement, gain1<L>, bias1<L>, gain2<L>, bias2<L>, wq<L>, wk<L>, wv<L>, wo<L>, w1<L>, w2<L>>;
template <template <class> class Statement> using each_of_others = each<Statement, token_table, position_table, head, last_gain, last_bias>;

template <int L> using average_layer = each_of_layer<average_gradient, L>;
template <int L> using update_layer = each_of_layer<update_weight, L>;

// The sum of the squares of all gradients: those of shards are added up over the ranks that have different ones.
template <int> struct squares_of_shards;
template <int> struct squares_of_others;
template <int L> using squares_of_layer = dv::group<
    dv::let<squares_of_shards<L>, sum_of_squares(mean_gradient<wq<L>>, mean_gradient<wk<L>>, mean_gradient<wv<L>>, mean_gradient<wo<L>>,
                                                 mean_gradient<w1<L>>, mean_gradient<w2<L>>)>,
    dv::let<squares_of_others<L>, sum_of_squares(mean_gradient<gain1<L>>, mean_gradient<bias1<L>>, mean_gradient<gain2<L>>,
                                                 mean_gradient<bias2<L>>)>>;
using clip = dv::group<
    dv::repeat<squares_of_layer, layers>,
    dv::let<squares_of_others<layers>, sum_of_squares(mean_gradient<token_table>, mean_gradient<position_table>, mean_gradient<head>,
                                                      mean_gradient<last_gain>, mean_gradient<last_bias>)>,
    dv::let<squares, add(all_reduce<sum, tp>(add(squares_of_shards<0>, squares_of_shards<1>)),
                         add(add(squares_of_others<0>, squares_of_others<1>), squares_of_others<2>))>,
    dv::let<factor, clip_factor(squares, limit)>>;
static_assert(layers == 2, "the squares of two layers are added");

template <int Dp, int Tp>
struct train : dv::graph<
    dv::mesh<dv::axis<dp, Dp>, dv::axis<tp, Tp>>,
    dv::input<tokens, dv::tensor<std::int32_t, sequences / Dp * length>, dv::replicated<tp>>,
    dv::input<targets, dv::tensor<std::int32_t, sequences / Dp * length>, dv::replicated<tp>>,
    dv::input<positions, dv::tensor<std::int32_t, sequences / Dp * length>, dv::replicated<dp>, dv::replicated<tp>>,
    dv::input<rate, dv::scalar<float>, dv::replicated<dp>, dv::replicated<tp>>,
    dv::input<step, dv::scalar<std::int32_t>, dv::replicated<dp>, dv::replicated<tp>>,
    dv::input<limit, dv::scalar<float>, dv::replicated<dp>, dv::replicated<tp>>,
    typename weights<true, Tp>::all,
    forward, dv::repeat<attend, layers>,
    dv::let<dv::values<loss, prediction>, softmax_cross_entropy(logits, targets)>,
    dv::let<mean_loss, all_reduce<average, dp>(loss)>,
    backward,
    dv::repeat<average_layer, dv::down<layers>>, each_of_others<average_gradient>,
    clip,
    dv::repeat<update_layer, layers>, each_of_others<update_weight>,
    dv::output<mean_loss>> {};

// clang-format on

template <int Ranks, class World>
using plan_options = dv::options<std::conditional_t<World::on_gpus, dv::machine::h200_nvlink, worlds::two_cores<Ranks>>>;

// Runs step `i` of a training, from 1 on, with the sequences of the rank with this place on dp. Returns the ticket.
template <int Dp, class Executor>
auto train_step(Executor& learn, const transformer::text& text, int i, int place) {
    constexpr int mine = sequences / Dp;
    const transformer::batch b = transformer::draw(text, i, place * mine, mine, length);
    learn.bind(dv::name<tokens>, b.inputs).bind(dv::name<targets>, b.targets);
    learn.bind(dv::name<positions>, transformer::positions(mine, length));
    learn.bind(dv::name<step>, i).bind(dv::name<limit>, 1.0f).bind(dv::name<rate>, 4e-3f * std::min(1.0f, static_cast<float>(i) / 20));
    return learn.run();
}

// Writes the first values of weights that are divided over tp: the rank's columns, or rows, of a random matrix [Rows, Columns] that is the
// same for every width.
template <class Name, int Rows, int Columns, int Tp>
void write_columns(dv::store& store, int seed, int position) {
    constexpr int mine = Columns / Tp;
    const transformer::block of_rank{Rows, Columns, 0, Rows, position * mine, mine};
    store.write<dv::tensor<float, Rows, mine>>(dv::name<Name>, transformer::random_block(seed, 1 / std::sqrt(Rows), of_rank));
}
template <class Name, int Rows, int Columns, int Tp>
void write_rows(dv::store& store, int seed, int position) {
    constexpr int mine = Rows / Tp;
    const transformer::block of_rank{Rows, Columns, position * mine, mine, 0, Columns};
    // Smaller, since the results of all layers are added
    const double deviation = 1 / std::sqrt(Rows * 2.0 * layers);
    store.write<dv::tensor<float, mine, Columns>>(dv::name<Name>, transformer::random_block(seed, deviation, of_rank));
}
template <int Tp, int L>
void write_layer(dv::store& store, int position) {
    write_columns<wq<L>, size, size, Tp>(store, 10 * L + 1, position);
    write_columns<wk<L>, size, size, Tp>(store, 10 * L + 2, position);
    write_columns<wv<L>, size, size, Tp>(store, 10 * L + 3, position);
    write_rows<wo<L>, size, size, Tp>(store, 10 * L + 4, position);
    write_columns<w1<L>, size, hidden_size, Tp>(store, 10 * L + 5, position);
    write_rows<w2<L>, hidden_size, size, Tp>(store, 10 * L + 6, position);
}
// All of them, for the rank with this place on tp.
template <int Tp>
void write_weights(dv::store& store, int position) {
    write_layer<Tp, 0>(store, position);
    write_layer<Tp, 1>(store, position);
}

}  // namespace gpt
