// A small GPT writes several texts at once, with caches of keys and values. Graphs share a store on two ranks, tensor parallel: `train`
// (gpt.hpp) changes the weights, `prefill<Batch>` reads the beginnings of up to `Batch` texts at once and fills their caches,
// `decode<Batch>` reads one token of each, writes its keys and values to the caches and attends to them. There is a bucket, a pair of
// graphs with caches of their own, for one, two and four texts; the smallest that holds all texts is used. When the caches are full,
// the second half of each text is its next beginning.
//
// Runs on host threads with simulated links (timed sleeps), or with --gpu on two GPUs, where each run of `decode` is the launch of one
// CUDA graph. Prints tokens per second and the time of a token, the median and the 99th percentile. Fails if the logits of decoding differ
// by more than rounding from those of reading each text alone, all tokens at once.
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
#include <vector>

namespace app {
using namespace gpt;

template <int Batch, int L> struct key_cache;
template <int Batch, int L> struct value_cache;

using trained = model<small<float>>;
constexpr int layers = trained::layers, size = trained::size, head_size = trained::head_size;
constexpr int length = trained::length, vocabulary = trained::vocabulary;
constexpr int width = 2;  // of tp
using mesh = dv::mesh<dv::axis<dp, 1>, dv::axis<tp, width>>;

template <int Count> using inputs = dv::group<
    dv::input<tokens, dv::tensor<std::int32_t, Count>, dv::replicated<tp>>,
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

template <int Batch> struct prefill : dv::graph<
    mesh, inputs<Batch * length>, trained::weights<false, width>::all,
    trained::forward, dv::repeat<trained::attend_only, layers>, dv::repeat<caches<Batch>::template fill, layers>,
    dv::output<logits<0>>> {};

template <int Batch> struct decode : dv::graph<
    mesh, inputs<Batch>, trained::weights<false, width>::all,
    trained::forward, dv::repeat<caches<Batch>::template attend, layers>,
    dv::output<logits<0>>> {};

// A text that is being written.
struct sequence {
    transformer::tokens known;    // the last of its tokens, at most `length`
    std::string text;             // all of it
    std::vector<float> scores{};  // the logits after each of the `length` tokens
    transformer::generator random{1};

    float* last_scores() { return scores.data() + (known.size() - 1) * vocabulary; }
    // Appends a token, if there are not yet `length`.
    void write(const transformer::text& of) {
        if (known.size() == length) return;
        known.push_back(transformer::sample(last_scores(), vocabulary, 0.7, random));
        text += of.character(known.back());
    }
};

// The executors of a rank for up to `Batch` texts at once.
template <int Batch, class Options>
class bucket {
public:
    template <class Rank>
    bucket(Rank& rank, dv::store& store) : prefill_{rank, store}, decode_{rank, store, dv::replay} {
        prefill_.bind(dv::name<positions>, transformer::positions(Batch, length));
    }

    // Reads all tokens of the texts at once, which fills the caches.
    void read(std::vector<sequence>& texts) {
        transformer::tokens all;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            all.insert(all.end(), texts[i].known.begin(), texts[i].known.end());
            all.resize((i + 1) * length);  // what comes later is not seen
        }
        all.resize(Batch * length);
        prefill_.bind(dv::name<tokens>, all);
        const std::vector<float> scores = prefill_.run().read(dv::name<logits<0>>).host();
        constexpr std::ptrdiff_t one = length * vocabulary;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const auto first = scores.begin() + static_cast<std::ptrdiff_t>(i) * one;
            texts[i].scores.assign(first, first + one);
        }
    }
    // Reads the last token of each text, whose keys and values are written to the caches.
    void read_last(std::vector<sequence>& texts) {
        transformer::tokens last(Batch), at(Batch);  // zero where there is no text
        for (std::size_t i = 0; i < texts.size(); ++i) {
            last[i] = texts[i].known.back();
            at[i] = static_cast<std::int32_t>(texts[i].known.size()) - 1;
        }
        const auto start = std::chrono::steady_clock::now();
        decode_.bind(dv::name<tokens>, last).bind(dv::name<positions>, at);
        const std::vector<float> scores = decode_.run().read(dv::name<logits<0>>).host();
        seconds_.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        for (std::size_t i = 0; i < texts.size(); ++i) std::copy_n(scores.data() + i * vocabulary, vocabulary, texts[i].last_scores());
    }
    // Writes until each text has `length` tokens.
    void write_on(std::vector<sequence>& texts, const transformer::text& of) {
        const auto is_short = [](const sequence& s) { return s.known.size() < length; };
        read(texts);
        while (std::any_of(texts.begin(), texts.end(), is_short)) {
            for (sequence& s : texts) s.write(of);
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
    dv::executor<prefill<Batch>, Options> prefill_;
    dv::executor<decode<Batch>, Options> decode_;
    std::vector<double> seconds_;  // of each run of decode
};

template <class Options>
struct buckets {
    bucket<1, Options> one;
    bucket<2, Options> two;
    bucket<4, Options> four;
    double apart = 0;  // the largest difference between logits

    template <class Rank>
    buckets(Rank& rank, dv::store& store) : one{rank, store}, two{rank, store}, four{rank, store} {}

    // Calls `act` with the smallest bucket for so many texts.
    template <class Act>
    void with_smallest(std::size_t texts, Act act) {
        if (texts > 4) throw std::runtime_error{"there is no bucket for so many texts"};
        texts == 1 ? act(one) : texts == 2 ? act(two) : act(four);
    }
    // Compares the logits of the texts with those of reading each alone, all tokens at once.
    void compare(const std::vector<sequence>& texts) {
        for (const sequence& s : texts) {
            std::vector<sequence> alone{s};
            one.read(alone);
            for (std::size_t i = 0; i < s.scores.size(); ++i) {
                const double difference = std::abs(static_cast<double>(s.scores[i]) - alone[0].scores[i]);
                if (std::isnan(difference) || difference > apart) apart = difference;  // NaN stays: nothing is greater
            }
        }
    }
};

// Writes `pieces` times half a cache of each text.
template <class Options>
void write_all(buckets<Options>& all, std::vector<sequence>& texts, const transformer::text& of, int pieces, bool prints) {
    all.with_smallest(texts.size(), [&](auto& smallest) {
        for (int i = 0; i < pieces; ++i) {
            if (i > 0)
                for (sequence& s : texts) s.known.erase(s.known.begin(), s.known.begin() + length / 2);
            smallest.write_on(texts, of);
            all.compare(texts);
        }
        if (prints) smallest.print_times(texts.size());
    });
}

template <class World>
int generate(const transformer::text& text, World make_world) {
    using options = plan_options<width, World>;
    constexpr int steps = 200;
    const std::vector<std::string> beginnings{"Alice was ", "The Queen said ", "It was "};
    bool good = true;
    auto world = make_world(width);
    std::printf("%d ranks; %s\n", width, world.links().c_str());
    world.run([&](auto& rank) {
        dv::store store{rank};  // the weights and the caches
        dv::executor<trained::train<1, width>, options> learn{rank, store};
        buckets<options> all{rank, store};
        first_weights<trained, width>{store, place_of<1, width>(rank.index())}.template write<1>();
        double loss = 0;
        for (int i = 1; i <= steps; ++i) loss = train_step<trained, 1, 1>(learn, text, i, 0).read(dv::name<mean_loss>)[0];
        const bool prints = rank.index() == 0;
        if (prints) std::printf("  loss %.3f after %d steps\n", loss, steps);
        std::vector<sequence> texts;
        for (std::size_t count = 1; count <= beginnings.size(); ++count) {
            texts.clear();
            for (std::size_t i = 0; i < count; ++i) texts.push_back({text.encoded(beginnings[i]), beginnings[i]});
            write_all(all, texts, text, 6, prints);
        }
        if (!prints) return;
        for (const sequence& s : texts) std::printf("  \"%s\"\n", s.text.c_str());
        std::printf("  logits at most %.1e apart from those of reading each text alone, all tokens at once\n", all.apart);
        good = all.apart < 1e-3;
    });
    std::printf("\n%s: decoding with caches gives the logits of reading all tokens, up to rounding\n", good ? "as it should be" : "FAILED");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
}  // namespace app

int main(int count, char** arguments) {
    const int file = worlds::wants_gpus(count, arguments) ? 2 : 1;
    const dovetail::host::link link{worlds::link_latency, static_cast<double>(worlds::link_bandwidth)};
    return worlds::choose(count, arguments, link, [&](auto make_world) {
        return app::generate(count > file ? transformer::load(arguments[file]) : transformer::load(), make_world);
    });
}
