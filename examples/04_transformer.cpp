// A small GPT that learns "Alice's Adventures in Wonderland", character by character, and then writes on. The training graph, data and
// tensor parallel, is in gpt.hpp.
//
// Runs on host threads with simulated links (timed sleeps), or with --gpu on two GPUs. Fails if the losses on meshes 1 x 1, 2 x 1 and 1 x 2
// differ by more than rounding, if a training resumed from a file has other losses than one that does not stop, or if the model does
// not learn.
//
// `04_transformer [--gpu] --record FOLDER` writes the states before the first step and the losses of 100 steps, initial.safetensors and
// losses.txt. transformer.py trains the same model in PyTorch from these weights and compares:
// `python examples/transformer.py FOLDER/initial.safetensors --compare FOLDER/losses.txt`.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/observe/observe.hpp>  // DOVETAIL_REPORT=1, DOVETAIL_TRACE=file.json, ...: see examples/reference.md
#include <dovetail/ops/ops.hpp>

#include "gpt.hpp"
#include "reports.hpp"
#include "transformer.hpp"
#include "worlds.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <unistd.h>
#include <vector>

namespace dv = dovetail;
namespace observe = dv::observe;

namespace app {
using namespace gpt;

// The logits after each token of one sequence, on every rank.
template <int Dp, int Tp>
struct predict : dv::graph<
    dv::mesh<dv::axis<dp, Dp>, dv::axis<tp, Tp>>,
    dv::input<tokens, dv::tensor<std::int32_t, length>, dv::replicated<dp>, dv::replicated<tp>>,
    dv::input<positions, dv::tensor<std::int32_t, length>, dv::replicated<dp>, dv::replicated<tp>>,
    typename weights<false, Tp>::all,
    forward, dv::repeat<attend_only, layers>,
    dv::output<logits>> {};

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

// A training, or a part of it: from the file `resume`, or from the beginning, to a step, and then to the file `save`.
struct stretch {
    int last_step;
    bool writes = false;                               // text, afterwards
    std::string resume = {}, save = {}, initial = {};  // paths, the last of the states before the first step; empty: none
};

// Writes the first weights, or all states from the file `resume`. Returns the number of steps done.
template <int Tp>
int begin(dv::store& store, const stretch& part, int position) {
    write_weights<Tp>(store, position);
    int steps = 0;
    if (!part.resume.empty())
        for (const auto& [name, value] : store.load(part.resume))
            if (name == "steps") steps = std::stoi(value);
    return steps;
}

// Trains on a mesh of Dp x Tp ranks. Returns the loss of each step. With files Tp is 1: one file of whole states serves all ranks.
template <int Dp, int Tp, class World>
std::vector<double> play(const transformer::text& text, World make_world, const stretch& part) {
    using options = plan_options<Dp * Tp, World>;
    using learning = train<Dp, Tp>;
    constexpr int recorded = 5, tokens_of_step = sequences * length;
    std::vector<double> losses;
    std::vector<observe::measured_run> runs(recorded, {0, std::vector<observe::measured_rank>(Dp * Tp)});
    auto world = make_world(Dp * Tp);
    std::printf("\n%d x %d rank%s; %s\n", Dp, Tp, Dp * Tp > 1 ? "s" : "", world.links().c_str());
    world.run([&](auto& rank) {
        dv::store store{rank};  // both executors see the same weights
        dv::executor<learning, options> learn{rank, store};
        dv::executor<predict<Dp, Tp>, options> model{rank, store};
        const int index = rank.index(), place = index / Tp;  // on dp; that on tp is the rest
        const int done = begin<Tp>(store, part, index % Tp);
        if (index == 0 && !part.initial.empty()) store.save(part.initial, {{"steps", "0"}});
        model.bind(dv::name<positions>, transformer::positions(1, length));

        auto since = std::chrono::steady_clock::now();
        for (int i = done + 1; i <= part.last_step; ++i) {
            const int record = i - 1 - (part.last_step - recorded);
            learn.record_times(record >= 0);
            const auto ticket = train_step<Dp>(learn, text, i, place);
            const double loss = ticket.read(dv::name<mean_loss>)[0];
            if (record >= 0) runs[static_cast<std::size_t>(record)].ranks[static_cast<std::size_t>(index)] = {index, 0, ticket.times()};
            if (index != 0) continue;
            losses.push_back(loss);
            if (i % 25 != 0) continue;
            const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - since;
            std::printf("  step %d: loss %.3f, %.0f tokens per second\n", i, loss, 25 * tokens_of_step / seconds.count());
            since = std::chrono::steady_clock::now();
        }
        if (index == 0 && !part.save.empty()) store.save(part.save, {{"steps", std::to_string(part.last_step)}});
        if (part.writes) write_on(model, text, "Alice was ", 200, index == 0);
    });
    reports::print<learning, options>(runs);
    return losses;
}

// Whether a training that stops after 25 steps and is resumed from a file has the losses of one that does not stop.
template <class World>
bool resumes(const transformer::text& text, World make_world, const std::vector<double>& whole) {
    const std::string name = "transformer." + std::to_string(::getpid()) + ".safetensors";
    const std::filesystem::path file = std::filesystem::temp_directory_path() / name;
    std::vector<double> losses = play<2, 1>(text, make_world, {.last_step = 25, .save = file});
    std::printf("\nresumed from %s", file.c_str());
    const std::vector<double> rest = play<2, 1>(text, make_world, {.last_step = 50, .resume = file});
    std::filesystem::remove(file);
    losses.insert(losses.end(), rest.begin(), rest.end());
    return std::equal(losses.begin(), losses.end(), whole.begin());
}

// Writes the states before the first step and the losses of 100 steps to a folder, for transformer.py.
template <class World>
int record(const transformer::text& text, World make_world, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    std::ofstream file{folder / "losses.txt"};
    file.precision(std::numeric_limits<float>::max_digits10);
    const stretch part{.last_step = 100, .initial = folder / "initial.safetensors"};
    for (const double loss : play<2, 1>(text, make_world, part)) file << loss << '\n';
    return file.flush() ? EXIT_SUCCESS : EXIT_FAILURE;
}

template <class World>
int compare(const transformer::text& text, World make_world) {
    const std::vector<double> by_mesh[] = {play<2, 1>(text, make_world, {.last_step = 400, .writes = true}),
                                           play<1, 1>(text, make_world, {.last_step = 25}),
                                           play<1, 2>(text, make_world, {.last_step = 25})};
    bool equal = true;
    for (const std::vector<double>& losses : by_mesh)
        for (std::size_t i = 0; i < 25; ++i) equal = equal && std::abs(losses[i] - by_mesh[0][i]) <= 1e-3 * by_mesh[0][i];
    const auto mean = [&](std::size_t first) { return std::accumulate(&by_mesh[0][first], &by_mesh[0][first] + 10, 0.0) / 10; };
    const bool resumed = resumes(text, make_world, by_mesh[0]);
    const bool learned = mean(by_mesh[0].size() - 10) < 2.1;
    std::printf("\n%s: the same losses on 2 x 1, 1 x 1 and 1 x 2 ranks up to rounding\n", equal ? "as it should be" : "FAILED");
    std::printf("%s: the same losses when resumed, bit by bit\n", resumed ? "as it should be" : "FAILED");
    std::printf("%s: from a loss of %.2f to %.2f\n", learned ? "as it should be" : "FAILED", by_mesh[0][0], mean(by_mesh[0].size() - 10));
    return equal && resumed && learned ? EXIT_SUCCESS : EXIT_FAILURE;
}
}  // namespace app

int main(int count, char** arguments) {
    int next = worlds::wants_gpus(count, arguments) ? 2 : 1;
    std::string folder;  // to record to; empty: none
    if (count > next + 1 && std::strcmp(arguments[next], "--record") == 0) {
        folder = arguments[next + 1];
        next += 2;
    }
    const dv::host::link link{worlds::link_latency, static_cast<double>(worlds::link_bandwidth)};
    return worlds::choose(count, arguments, link, [&](auto make_world) {
        const transformer::text text = count > next ? transformer::load(arguments[next]) : transformer::load();
        return folder.empty() ? app::compare(text, make_world) : app::record(text, make_world, folder);
    });
}
