// A small GPT writes several texts at once, with caches of keys and values. Two ranks, tensor parallel, have the role `prefill` and two
// the role `decode`; before, all four train the model (gpt.hpp). Graphs share a store on each rank: `fill<Batch>` reads the beginnings of
// up to `Batch` texts on `prefill`, and the keys and values fill the caches on `decode`; `next<Batch>` there reads one token of each text,
// writes its keys and values to the caches and attends to them. There is a bucket, a pair of graphs with caches of their own, for one, two
// and four texts; the smallest that holds all texts is used. When the caches are full, the second half of a text is its next beginning.
//
// Runs on host threads with simulated links (timed sleeps), or with --gpu on four GPUs; where there are fewer, on two of `decode` that do
// the work of `prefill` as well. On GPUs each run of `next` is the launch of one CUDA graph. Prints tokens per second and the time of a
// token, the median and the 99th percentile. Fails if the logits of decoding differ by more than rounding from those of one role that
// reads each text at once.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/observe/observe.hpp>  // DOVETAIL_REPORT=1, DOVETAIL_TRACE=file.json, ...: see examples/reference.md
#include <dovetail/ops/ops.hpp>

#include "gpt.hpp"
#include "transformer.hpp"
#include "worlds.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace app {
using namespace gpt;

struct prefill;  // the roles
struct decode;
struct known;  // tokens of the texts, which the decode role has
struct scores;
template <int Batch, int L> struct key_cache;
template <int Batch, int L> struct value_cache;

using trained = model<small<float>>;
constexpr int layers = trained::layers, size = trained::size, head_size = trained::head_size;
constexpr int length = trained::length, vocabulary = trained::vocabulary;
constexpr int width = 2;  // of tp
using mesh = dv::mesh<dv::axis<dp, 1>, dv::axis<tp, width>>;
using weights = trained::weights<false, width>::all;

template <class Tokens, int Count> using inputs = dv::group<
    dv::input<Tokens, dv::tensor<std::int32_t, Count>, dv::replicated<tp>>,
    dv::input<positions, dv::tensor<std::int32_t, Count>, dv::replicated<tp>>>;

// The caches of `Batch` texts.
template <int Batch> struct caches {
    using tensor = dv::tensor<float, Batch * length, size / width>;
    template <int L> using keys = key_cache<Batch, L>;
    template <int L> using values = value_cache<Batch, L>;

    template <int L> using fill = dv::group<
        dv::state<keys<L>, tensor, zeros>, dv::state<values<L>, tensor, zeros>,
        dv::update<keys<L>, copy(k<L, 0>)>, dv::update<values<L>, copy(v<L, 0>)>>;

    template <int L> using attend = dv::group<
        dv::state<keys<L>, tensor, dv::from_store>, dv::state<values<L>, tensor, dv::from_store>,
        dv::update<keys<L>, write_to_cache<length>(keys<L>, k<L, 0>, positions)>,
        dv::update<values<L>, write_to_cache<length>(values<L>, v<L, 0>, positions)>,
        dv::let<attended<L, 0>, cached_attention<length, head_size>(q<L, 0>, keys<L>, values<L>, positions)>>;
};

// The graphs of a world with both roles, or of one in which the ranks of `decode` do the work of `prefill` as well.
template <int Roles> struct graphs {
    using reader = std::conditional_t<Roles == 1, decode, prefill>;
    using roles = std::conditional_t<Roles == 1, dv::roles<decode>, dv::roles<prefill, decode>>;

    template <int Batch> struct fill : dv::graph<
        roles, mesh, inputs<known, Batch * length>,
        dv::on<decode, dv::let<tokens, copy(known)>>,
        dv::on<reader, weights, trained::forward, dv::repeat<trained::attend_only, layers>>,
        dv::on<decode, dv::repeat<caches<Batch>::template fill, layers>, dv::let<scores, copy(logits<0>)>>,
        dv::output<scores>> {};

    template <int Batch> struct next : dv::graph<
        roles, mesh, inputs<tokens, Batch>,
        dv::on<decode, weights, trained::forward, dv::repeat<caches<Batch>::template attend, layers>>,
        dv::output<logits<0>>> {};

    struct at_once : dv::graph<
        roles, mesh, inputs<tokens, length>,
        dv::on<decode, weights, trained::forward, dv::repeat<trained::attend_only, layers>>,
        dv::output<logits<0>>> {};
};

// A text that is being written.
struct sequence {
    int different;                    // tokens of the text that the model has learned
    transformer::tokens known;        // the last of its tokens, at most `length`
    transformer::tokens written{};    // the tokens behind its beginning
    std::vector<float> all_scores{};  // the logits after each of `length` tokens
    transformer::generator random{1};

    float* last_scores() { return all_scores.data() + (known.size() - 1) * vocabulary; }
    // Appends a token, if there are not yet `length`.
    void write() {
        if (known.size() == length) return;
        known.push_back(transformer::sample(last_scores(), different, 0.7, random));
        written.push_back(known.back());
    }
};

// The logits of a run. A rank without the role decode gets zeros, and writes texts that nobody reads.
template <class Ticket, class Name>
std::vector<float> scores_of(const Ticket& ticket, Name name, bool decodes, std::size_t rows) {
    return decodes ? std::vector<float>(ticket.read(name).host()) : std::vector<float>(rows * vocabulary);
}

// The executors of a rank for up to `Batch` texts at once.
template <class Graphs, int Batch, class Options>
class bucket {
public:
    template <class Rank>
    bucket(Rank& rank, dv::store& store) : fill_{rank, store}, next_{rank, store, dv::replay}, decodes_{rank.is(dv::name<decode>)} {
        fill_.bind(dv::name<positions>, transformer::positions(Batch, length));
    }

    // Writes until each text has `length` tokens.
    void write(std::vector<sequence>& texts) {
        const auto is_short = [](const sequence& s) { return s.known.size() < length; };
        read(texts);
        while (std::any_of(texts.begin(), texts.end(), is_short)) {
            for (sequence& s : texts) s.write();
            read_last(texts);
        }
    }
    // Prints how many tokens of so many texts were decoded in a second, and how long a token of each took.
    void print_times(std::size_t texts) const {
        std::vector<double> sorted = seconds_;
        std::sort(sorted.begin(), sorted.end());
        const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
        std::printf("  %zu in the bucket of %d: %.0f tokens per second; a token of each takes %.0f us, 99%% of them at most %.0f us\n",
                    texts, Batch, static_cast<double>(texts * sorted.size()) / sum, 1e6 * sorted[sorted.size() / 2],
                    1e6 * sorted[sorted.size() * 99 / 100]);
    }

private:
    // Reads all tokens of the texts, which fills the caches.
    void read(std::vector<sequence>& texts) {
        transformer::tokens all;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            all.insert(all.end(), texts[i].known.begin(), texts[i].known.end());
            all.resize((i + 1) * length);  // what comes later is not seen
        }
        all.resize(Batch * length);
        fill_.bind(dv::name<known>, all);
        const std::vector<float> rows = scores_of(fill_.run(), dv::name<scores>, decodes_, Batch * length);
        constexpr std::size_t one = length * vocabulary;
        for (std::size_t i = 0; i < texts.size(); ++i) texts[i].all_scores.assign(rows.data() + i * one, rows.data() + (i + 1) * one);
    }
    // Reads the last token of each text, whose keys and values are written to the caches.
    void read_last(std::vector<sequence>& texts) {
        transformer::tokens last(Batch), at(Batch);  // zero where there is no text
        for (std::size_t i = 0; i < texts.size(); ++i) {
            last[i] = texts[i].known.back();
            at[i] = static_cast<std::int32_t>(texts[i].known.size()) - 1;
        }
        const auto start = std::chrono::steady_clock::now();
        next_.bind(dv::name<tokens>, last).bind(dv::name<positions>, at);
        const std::vector<float> rows = scores_of(next_.run(), dv::name<logits<0>>, decodes_, Batch);
        seconds_.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        for (std::size_t i = 0; i < texts.size(); ++i) std::copy_n(rows.data() + i * vocabulary, vocabulary, texts[i].last_scores());
    }

    dv::executor<typename Graphs::template fill<Batch>, Options> fill_;
    dv::executor<typename Graphs::template next<Batch>, Options> next_;
    const bool decodes_;
    std::vector<double> seconds_;  // of each run of `next`
};

// All buckets of a rank.
template <class Graphs, class Options>
class buckets {
public:
    template <class Rank>
    buckets(Rank& rank, dv::store& store)
        : one_{rank, store}, two_{rank, store}, four_{rank, store}, at_once_{rank, store}, decodes_{rank.is(dv::name<decode>)} {
        at_once_.bind(dv::name<positions>, transformer::positions(1, length));
    }

    // Writes `pieces` times half a cache of each text.
    void write(std::vector<sequence>& texts, int pieces, bool prints) {
        const auto with = [&](auto& smallest) {
            for (int i = 0; i < pieces; ++i) {
                if (i > 0)
                    for (sequence& s : texts) s.known.erase(s.known.begin(), s.known.begin() + length / 2);
                smallest.write(texts);
                for (const sequence& s : texts) compare(s);
            }
            if (prints) smallest.print_times(texts.size());
        };
        if (texts.size() > 4) throw std::runtime_error{"there is no bucket for so many texts"};
        texts.size() == 1 ? with(one_) : texts.size() == 2 ? with(two_) : with(four_);
    }
    double difference() const { return difference_; }

private:
    // Compares the logits of a text with those of reading it alone, all tokens at once.
    void compare(const sequence& s) {
        at_once_.bind(dv::name<tokens>, s.known);
        const std::vector<float> rows = scores_of(at_once_.run(), dv::name<logits<0>>, decodes_, length);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double apart = std::abs(static_cast<double>(s.all_scores[i]) - rows[i]);
            if (std::isnan(apart) || apart > difference_) difference_ = apart;  // NaN stays: nothing is greater
        }
    }

    bucket<Graphs, 1, Options> one_;
    bucket<Graphs, 2, Options> two_;
    bucket<Graphs, 4, Options> four_;
    dv::executor<typename Graphs::at_once, Options> at_once_;
    const bool decodes_;
    double difference_ = 0;  // the largest
};

// In a world with `Roles` roles.
template <int Roles, class World>
int generate(const transformer::text& text, World make_world) {
    constexpr int ranks = Roles * width, steps = 200;
    using options = plan_options<ranks, World>;
    std::vector<transformer::tokens> beginnings;  // made first: a text without these characters is refused at once
    for (const char* beginning : {"Of Man ", "Satan ", "And on the "}) beginnings.push_back(text.encoded(beginning));
    bool good = true;
    auto world = make_world(ranks);
    std::printf("%d ranks, %d of each role; %s\n", ranks, width, world.links().c_str());
    world.run([&](auto& rank) {
        dv::store store{rank};  // the weights and the caches
        dv::executor<trained::train<Roles, width>, options> learn{rank, store};
        buckets<graphs<Roles>, options> all{rank, store};
        const place at = place_of<Roles, width>(rank.index());
        first_weights<trained, width>{store, at}.template write<1>();
        double loss = 0;
        for (int i = 1; i <= steps; ++i) loss = train_step<trained, Roles, 1>(learn, text, i, at.dp).read(dv::name<mean_loss>)[0];
        const bool prints = rank.index() == ranks - 1;  // the last one of decode
        if (prints) std::printf("  loss %.3f after %d steps\n", loss, steps);
        std::vector<sequence> texts;
        for (std::size_t count = 1; count <= beginnings.size(); ++count) {
            texts.clear();
            for (std::size_t i = 0; i < count; ++i) texts.push_back({text.different(), beginnings[i]});
            all.write(texts, 6, prints);
        }
        if (!prints) return;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            std::string story;
            for (const transformer::tokens& part : {beginnings[i], texts[i].written})
                for (const std::int32_t token : part) story += text.character(token);
            std::printf("  \"%s\"\n", story.c_str());
        }
        std::printf("  logits at most %.1e apart from those of one role that reads each text at once\n", all.difference());
        good = all.difference() < 1e-3;
    });
    std::printf("\n%s: decoding with caches gives the logits of reading all tokens, up to rounding\n", good ? "as it should be" : "FAILED");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

// On two GPUs, if there are not four, one role has all the work.
template <class World>
int generate(const transformer::text& text, World make_world) {
    if constexpr (World::on_gpus)
        if (!World::has(2 * width)) return generate<1>(text, make_world);
    return generate<2>(text, make_world);
}
}  // namespace app

int main(int count, char** arguments) {
    std::string file = transformer::default_path();
    const dovetail::host::link link{worlds::link_latency, static_cast<double>(worlds::link_bandwidth)};
    return worlds::choose(count, arguments, {.file = &file}, link, [&](auto make_world) {
        return app::generate(transformer::load(file), make_world);
    });
}
