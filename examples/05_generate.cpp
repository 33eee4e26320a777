// A small GPT writes with a cache of keys and values. Three graphs share a store on two ranks, tensor parallel: `train` (gpt.hpp) changes
// the weights, `prefill` reads a beginning at once and fills the caches, `decode` reads one token, appends its keys and values to the
// caches and attends to them. When the caches are full, the second half of the text is the next beginning.
//
// Runs on host threads with simulated links (timed sleeps), or with --gpu on two GPUs, where each token is the launch of one CUDA graph.
// Prints tokens per second and the time of a token, the median and the 99th percentile. Fails if decoding and reading all tokens at once
// give logits that differ by more than rounding.
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
#include <string>
#include <vector>

namespace app {
using namespace gpt;

template <int> struct key_cache;
template <int> struct value_cache;

using trained = model<small<float>>;
constexpr int layers = trained::layers, size = trained::size, head_size = trained::head_size;
constexpr int length = trained::length, vocabulary = trained::vocabulary;
constexpr int width = 2;  // of tp
using mesh = dv::mesh<dv::axis<dp, 1>, dv::axis<tp, width>>;
using cache = dv::tensor<float, length, size / width>;

template <int Count> using inputs = dv::group<
    dv::input<tokens, dv::tensor<std::int32_t, Count>, dv::replicated<tp>>,
    dv::input<positions, dv::tensor<std::int32_t, Count>, dv::replicated<tp>>>;

template <int L> using fill_caches = dv::group<
    dv::state<key_cache<L>, cache, zeros>, dv::state<value_cache<L>, cache, zeros>,
    dv::update<key_cache<L>, copy(k<L, 0>)>, dv::update<value_cache<L>, copy(v<L, 0>)>>;

struct prefill : dv::graph<
    mesh, inputs<length>, trained::weights<false, width>::all,
    trained::forward, dv::repeat<trained::attend_only, layers>, dv::repeat<fill_caches, layers>,
    dv::output<logits<0>>> {};

template <int L> using attend_to_caches = dv::group<
    dv::state<key_cache<L>, cache, dv::from_store>, dv::state<value_cache<L>, cache, dv::from_store>,
    dv::update<key_cache<L>, write_to_cache<length>(key_cache<L>, k<L, 0>, positions)>,
    dv::update<value_cache<L>, write_to_cache<length>(value_cache<L>, v<L, 0>, positions)>,
    dv::let<attended<L, 0>, cached_attention<length, head_size>(q<L, 0>, key_cache<L>, value_cache<L>, positions)>>;

struct decode : dv::graph<
    mesh, inputs<1>, trained::weights<false, width>::all,
    trained::forward, dv::repeat<attend_to_caches, layers>,
    dv::output<logits<0>>> {};

// The executors of a rank that generate text.
template <class Prefill, class Decode>
struct writer {
    Prefill& prefill;
    Decode& decode;
    transformer::generator random{1};
    std::vector<double> seconds{};  // of each token decoded
    double apart = 0;  // the largest difference between logits of decoding and of reading all tokens at once

    // The logits after each of up to `length` tokens, which fill the caches.
    std::vector<float> read(transformer::tokens all) {
        all.resize(length);  // what comes later is not seen
        prefill.bind(dv::name<tokens>, all);
        return prefill.run().read(dv::name<logits<0>>).host();
    }
    // The logits after the last token, whose keys and values are appended to the caches.
    std::vector<float> read_last(const transformer::tokens& all) {
        const auto start = std::chrono::steady_clock::now();
        decode.bind(dv::name<tokens>, transformer::tokens{all.back()});
        decode.bind(dv::name<positions>, transformer::tokens{static_cast<std::int32_t>(all.size()) - 1});
        std::vector<float> scores = decode.run().read(dv::name<logits<0>>).host();
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        return scores;
    }
    // Appends tokens until there are `length`.
    void write_on(transformer::tokens& all) {
        const std::size_t first = all.size();
        const std::vector<float> given = read(all);
        std::vector<float> scores(given.begin() + static_cast<std::ptrdiff_t>((first - 1) * vocabulary),
                                  given.begin() + static_cast<std::ptrdiff_t>(first * vocabulary));
        std::vector<float> of_all;
        while (true) {
            of_all.insert(of_all.end(), scores.begin(), scores.end());
            if (all.size() == length) break;
            all.push_back(transformer::sample(scores.data(), vocabulary, 0.7, random));
            scores = read_last(all);
        }
        const std::vector<float> at_once = read(all);
        for (std::size_t i = 0; i < of_all.size(); ++i) {
            const double difference = std::abs(static_cast<double>(of_all[i]) - at_once[(first - 1) * vocabulary + i]);
            if (std::isnan(difference) || difference > apart) apart = difference;  // NaN stays: nothing is greater
        }
    }
};
template <class Prefill, class Decode> writer(Prefill&, Decode&) -> writer<Prefill, Decode>;

// Prints how many tokens were decoded in a second, and how long one took.
void print_times(std::vector<double> seconds) {
    const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    std::sort(seconds.begin(), seconds.end());
    std::printf("  %zu tokens decoded, %.0f per second; a token takes %.0f us, 99%% of them at most %.0f us\n", seconds.size(),
                static_cast<double>(seconds.size()) / sum, 1e6 * seconds[seconds.size() / 2], 1e6 * seconds[seconds.size() * 99 / 100]);
}

// Writes `pieces` times half a cache of text. Returns it.
template <class Writer>
std::string written(Writer& w, const transformer::text& text, const std::string& beginning, int pieces) {
    transformer::tokens all = text.encoded(beginning);
    std::string story = beginning;
    for (int i = 0; i < pieces; ++i) {
        const std::size_t known = all.size();
        w.write_on(all);
        for (std::size_t t = known; t < all.size(); ++t) story += text.character(all[t]);
        all.erase(all.begin(), all.begin() + length / 2);
    }
    return story;
}

template <class World>
int generate(const transformer::text& text, World make_world) {
    using options = plan_options<width, World>;
    constexpr int steps = 200;
    bool good = true;
    auto world = make_world(width);
    std::printf("%d ranks; %s\n", width, world.links().c_str());
    world.run([&](auto& rank) {
        dv::store store{rank};  // the weights and the caches
        dv::executor<trained::train<1, width>, options> learn{rank, store};
        dv::executor<prefill, options> read_all{rank, store};
        dv::executor<decode, options> read_one{rank, store, dv::replay};
        first_weights<trained, width>{store, place_of<1, width>(rank.index())}.write<1>();
        double loss = 0;
        for (int i = 1; i <= steps; ++i) loss = train_step<trained, 1, 1>(learn, text, i, 0).read(dv::name<mean_loss>)[0];
        read_all.bind(dv::name<positions>, transformer::positions(1, length));
        writer w{read_all, read_one};
        const std::string story = written(w, text, "Alice was ", 6);
        if (rank.index() != 0) return;
        good = w.apart < 1e-3;
        std::printf("  loss %.3f after %d steps\n  \"%s\"\n", loss, steps, story.c_str());
        print_times(w.seconds);
        std::printf("  logits at most %.1e apart from those of all tokens at once\n", w.apart);
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
