// A small GPT that learns "Alice's Adventures in Wonderland", character by character, and then writes on. Data parallel along the axis dp,
// each rank with its sequences of the batch, and tensor parallel along tp: each rank has some of the heads of an attention and some of the
// columns of the hidden layer, and an all_reduce adds up what the ranks contribute to the rows. AdamW, with the gradients clipped by their
// global norm.
//
// Runs on host threads with simulated links (timed sleeps), or with --gpu on two GPUs. Fails if the losses on meshes 1 x 1, 2 x 1 and 1 x 2
// differ by more than rounding, or if the model does not learn.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/observe/observe.hpp>  // DOVETAIL_REPORT=1, DOVETAIL_TRACE=file.json, ...: the README has them all
#include <dovetail/ops/ops.hpp>

#include "reports.hpp"
#include "transformer.hpp"
#include "worlds.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace dv = dovetail;
namespace observe = dv::observe;

namespace app {
using namespace dv::ops;

constexpr int layers = 2;
constexpr int size = 64;  // of a token's row
constexpr int head_size = 16;
constexpr int hidden_size = 4 * size;
constexpr int length = 64;  // tokens of a sequence
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
template <int> struct x;  // 0: the embedded tokens; L + 1: what layer L makes of x<L>
template <int> struct between;  // attention and hidden layer
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
template <class> struct gradient;  // of the loss with respect to a value or a weight
template <class> struct mean_gradient;  // over dp
template <class> struct mean_of;  // states of AdamW: means of gradients and of their squares
template <class> struct square_of;

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

// The logits after each token of one sequence, on every rank.
template <int Dp, int Tp>
struct predict : dv::graph<
    dv::mesh<dv::axis<dp, Dp>, dv::axis<tp, Tp>>,
    dv::input<tokens, dv::tensor<std::int32_t, length>, dv::replicated<dp>, dv::replicated<tp>>,
    dv::input<positions, dv::tensor<std::int32_t, length>, dv::replicated<dp>, dv::replicated<tp>>,
    typename weights<false, Tp>::all,
    forward, dv::repeat<attend_only, layers>,
    dv::output<logits>> {};

template <int Ranks, class World>
using plan_options = dv::options<std::conditional_t<World::on_gpus, dv::machine::h200_nvlink, worlds::two_cores<Ranks>>>;

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
template <int L, int Tp>
void write_layer(dv::store& store, int position) {
    write_columns<wq<L>, size, size, Tp>(store, 10 * L + 1, position);
    write_columns<wk<L>, size, size, Tp>(store, 10 * L + 2, position);
    write_columns<wv<L>, size, size, Tp>(store, 10 * L + 3, position);
    write_rows<wo<L>, size, size, Tp>(store, 10 * L + 4, position);
    write_columns<w1<L>, size, hidden_size, Tp>(store, 10 * L + 5, position);
    write_rows<w2<L>, hidden_size, size, Tp>(store, 10 * L + 6, position);
}

// Prints what the model writes after `beginning`, one character after the other; every rank computes it, and the first one prints.
template <class Executor>
void write_on(Executor& model, const transformer::text& text, const std::string& beginning, int characters, bool print) {
    transformer::generator random{1};
    transformer::tokens all = text.encoded(beginning);
    for (int i = 0; i < characters; ++i) {
        const auto seen = static_cast<std::ptrdiff_t>(std::min<std::size_t>(all.size(), length));
        transformer::tokens window(all.end() - seen, all.end());
        window.resize(length);  // what comes later is not seen
        model.bind(dv::name<tokens>, window);
        const std::vector<float> scores = model.run().read(dv::name<logits>).host();
        all.push_back(transformer::sample(scores.data() + (seen - 1) * vocabulary, vocabulary, 0.7, random));
    }
    if (!print) return;
    std::printf("  \"");
    for (const std::int32_t token : all) std::putchar(text.character(token));
    std::printf("\"\n");
}

struct training {
    int steps;
    bool writes;  // afterwards
};

// Trains on a mesh of Dp x Tp ranks. Returns the loss of each step.
template <int Dp, int Tp, class World>
std::vector<double> play(const transformer::text& text, World make_world, training what) {
    using options = plan_options<Dp * Tp, World>;
    using learning = train<Dp, Tp>;
    constexpr int recorded = 5, mine = sequences / Dp, tokens_of_step = sequences * length;
    std::vector<double> losses;
    std::vector<observe::measured_run> runs(recorded, {0, std::vector<observe::measured_rank>(Dp * Tp)});
    auto world = make_world(Dp * Tp);
    std::printf("\n%d x %d rank%s; %s\n", Dp, Tp, Dp * Tp > 1 ? "s" : "", world.links().c_str());
    world.run([&](auto& rank) {
        dv::store store{rank};  // both executors see the same weights
        dv::executor<learning, options> learn{rank, store};
        dv::executor<predict<Dp, Tp>, options> model{rank, store};
        const int index = rank.index(), place = index / Tp;  // on dp; that on tp is the rest
        write_layer<0, Tp>(store, index % Tp);
        write_layer<1, Tp>(store, index % Tp);
        learn.bind(dv::name<limit>, 1.0f).bind(dv::name<positions>, transformer::positions(mine, length));
        model.bind(dv::name<positions>, transformer::positions(1, length));

        auto since = std::chrono::steady_clock::now();
        for (int i = 1; i <= what.steps; ++i) {
            const transformer::batch b = transformer::draw(text, i, place * mine, mine, length);
            learn.bind(dv::name<tokens>, b.inputs).bind(dv::name<targets>, b.targets);
            learn.bind(dv::name<step>, i).bind(dv::name<rate>, 4e-3f * std::min(1.0f, static_cast<float>(i) / 20));
            const int record = i - 1 - (what.steps - recorded);
            learn.record_times(record >= 0);
            const auto ticket = learn.run();
            const double loss = ticket.read(dv::name<mean_loss>)[0];
            if (record >= 0) runs[static_cast<std::size_t>(record)].ranks[static_cast<std::size_t>(index)] = {index, 0, ticket.times()};
            if (index != 0) continue;
            losses.push_back(loss);
            if (i % 25 != 0) continue;
            const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - since;
            std::printf("  step %d: loss %.3f, %.0f tokens per second\n", i, loss, 25 * tokens_of_step / seconds.count());
            since = std::chrono::steady_clock::now();
        }
        if (what.writes) write_on(model, text, "Alice was ", 200, index == 0);
    });
    reports::print<learning, options>(runs);
    return losses;
}

template <class World>
int compare(const transformer::text& text, World make_world) {
    const std::vector<double> by_mesh[] = {play<2, 1>(text, make_world, {400, true}), play<1, 1>(text, make_world, {25, false}),
                                           play<1, 2>(text, make_world, {25, false})};
    bool equal = true;
    for (const std::vector<double>& losses : by_mesh)
        for (std::size_t i = 0; i < 25; ++i) equal = equal && std::abs(losses[i] - by_mesh[0][i]) <= 1e-3 * by_mesh[0][i];
    const auto mean = [&](std::size_t first) { return std::accumulate(&by_mesh[0][first], &by_mesh[0][first] + 10, 0.0) / 10; };
    const bool learned = mean(by_mesh[0].size() - 10) < 2.1;
    std::printf("\n%s: the same losses on 2 x 1, 1 x 1 and 1 x 2 ranks up to rounding\n", equal ? "as it should be" : "FAILED");
    std::printf("%s: from a loss of %.2f to %.2f\n", learned ? "as it should be" : "FAILED", by_mesh[0][0], mean(by_mesh[0].size() - 10));
    return equal && learned ? EXIT_SUCCESS : EXIT_FAILURE;
}
}  // namespace app

int main(int count, char** arguments) {
    const int file = worlds::wants_gpus(count, arguments) ? 2 : 1;
    const transformer::text text = count > file ? transformer::load(arguments[file]) : transformer::load();
    const dv::host::link link{worlds::link_latency, static_cast<double>(worlds::link_bandwidth)};
    return worlds::choose(count, arguments, link, [&](auto make_world) { return app::compare(text, make_world); });
}
