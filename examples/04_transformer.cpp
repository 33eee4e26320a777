// A small GPT that learns "Paradise Lost", character by character, and then writes on. The training graph, data, tensor and pipeline
// parallel, is in gpt.hpp: one template for all widths dp x tp x pp.
//
// Runs on host threads with simulated links (timed sleeps), or with --gpu on two or four GPUs, with weights of bfloat16. Fails if the
// losses on 1 x 1 x 1, 2 x 1 x 1, 1 x 2 x 1, 1 x 1 x 2 and, where there are as many, 2 x 2 x 1 ranks, there sequence parallel and with a
// sharded optimizer, and on the host 2 x 2 x 2, differ by more than rounding, if a training resumed from files has other losses than one
// that does not stop, or if the model does not learn.
//
// `04_transformer [--gpu] --plot loss.svg` draws the losses of all meshes as well, and with `--beside FILE` those of PyTorch, as
// `transformer.py --losses FILE` writes them.
//
// `04_transformer [--gpu] --save FILE --every 25 --steps 400 --losses FILE` trains on 2 x 1 x 1 ranks only, saves the states every 25 steps
// and writes the loss of each step. Killed at any time, it goes on from the last save with `--resume FILE` added, to the same losses.
//
// `04_transformer [--gpu] --record FOLDER` writes the states before the first step and the losses of 100 steps on each mesh, of float,
// initial.safetensors and losses.2x1x1.txt, .... transformer.py trains the same model in PyTorch from these weights and compares:
// `python examples/transformer.py FOLDER/initial.safetensors --compare FOLDER/losses.2x1x1.txt`. The same on one rank with a head of its
// own, untied.safetensors and losses.untied.txt.
#include <dovetail/dovetail.hpp>
#include <dovetail/launch/executor.hpp>
#include <dovetail/observe/observe.hpp>  // DOVETAIL_REPORT=1, DOVETAIL_TRACE=file.json, ...: see examples/reference.md
#include <dovetail/ops/ops.hpp>

#include "gpt.hpp"
#include "loss_plot.hpp"
#include "reports.hpp"
#include "transformer.hpp"
#include "words.hpp"
#include "worlds.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace dv = dovetail;
namespace observe = dv::observe;

namespace app {
using namespace gpt;

// Weights of bfloat16, with masters of float, on GPUs; of float on the host, which has no arithmetic of 16 bits.
template <class World> using element_on = std::conditional_t<World::on_gpus, dv::bfloat16, float>;

constexpr int length = small<float>::length, vocabulary = small<float>::vocabulary;

// The logits after each token of one sequence, on every rank.
template <class Model, int Dp, int Tp>
struct predict : dv::graph<
    dv::mesh<dv::axis<dp, Dp>, dv::axis<tp, Tp>>,
    dv::input<tokens, dv::tensor<std::int32_t, length>, dv::replicated<dp>, dv::replicated<tp>>,
    dv::input<positions, dv::tensor<std::int32_t, length>, dv::replicated<dp>, dv::replicated<tp>>,
    typename Model::template weights<false, Tp>::all,
    typename Model::forward, dv::repeat<Model::template attend_only, Model::layers>,
    dv::output<logits<0>>> {};

// Prints what the model writes behind a beginning, one character after the other; every rank computes it, and the first one prints.
template <class Executor>
void write_on(Executor& predictor, const transformer::text& text, transformer::tokens all, int characters, bool print) {
    transformer::generator random{1};
    for (int i = 0; i < characters; ++i) {
        const auto seen = static_cast<std::ptrdiff_t>(std::min<std::size_t>(all.size(), length));
        transformer::tokens window(all.end() - seen, all.end());
        window.resize(length);  // what comes later is not seen
        predictor.bind(dv::name<tokens>, window);
        const auto read = predictor.run().read(dv::name<logits<0>>).host();
        const std::vector<float> scores(read.begin(), read.end());
        all.push_back(transformer::sample(scores.data() + (seen - 1) * vocabulary, text.different(), 0.7, random));
    }
    if (!print) return;
    std::printf("  \"");
    for (const std::int32_t token : all) std::putchar(text.character(token));
    std::printf("\"\n");
}

// A training, or a part of it: from the files `resume`, or from the beginning, to a step. Paths that are empty stand for no file.
struct stretch {
    int last_step;
    std::string resume = {};   // file of the states with which the training begins
    std::string save = {};     // file of the states, written every `every` steps and at the end
    std::string initial = {};  // file of the states, written before the first step
    std::string losses = {};   // gets a line for each step, behind those that it has: the step and its loss
    int every = 25;            // steps, after which a line of the progress is printed
};
enum class afterwards { nothing, text };

// Each stage has a file of its states. With files tp is 1: whole states serve all ranks of a stage.
std::string file_of(const std::string& path, int stage) { return stage == 0 ? path : path + '.' + std::to_string(stage); }
void save(const dv::store& store, const std::string& path, place at, int steps) {
    if (!path.empty() && at.dp == 0 && at.tp == 0) store.save(file_of(path, at.stage), {{"steps", std::to_string(steps)}});
}

// Writes the first weights, or all states from a file. Returns the number of steps done.
template <class Model, int Tp, int Pp>
int begin(dv::store& store, const stretch& part, place at) {
    first_weights<Model, Tp>{store, at}.template write<Pp>();
    int steps = 0;
    if (!part.resume.empty()) {
        const std::string file = file_of(part.resume, at.stage);
        steps = words::noted(store.load(file), "steps", file);
    }
    save(store, part.initial, at, 0);
    return steps;
}

// Each line is in the file before the next step is run, so that a process that is killed has written all of them.
class loss_file {
public:
    explicit loss_file(const std::string& path) : path_{path} {
        if (!path.empty()) file_.open(path, std::ios::app);
        file_.precision(std::numeric_limits<float>::max_digits10);
    }
    void add(int step, double loss) {
        if (!path_.empty() && !(file_ << step << ' ' << loss << std::endl)) throw std::runtime_error{"cannot write " + path_};
    }

private:
    const std::string path_;
    std::ofstream file_;
};

std::string progress_line(int step, double loss, double tokens_per_second) {
    char line[128];
    std::snprintf(line, sizeof line, "  step %d: loss %.3f, %.0f tokens per second", step, loss, tokens_per_second);
    return line;
}

// Trains a model on Dp x Tp x Pp ranks. Returns the loss of each step.
template <class Model, int Dp, int Tp, int Pp, afterwards Then = afterwards::nothing, class World>
std::vector<double> play(const transformer::text& text, World make_world, const stretch& part) {
    constexpr int ranks = Dp * Tp * Pp, tokens_of_step = Model::sequences * length;
    using options = plan_options<ranks, World>;
    using learning = typename Model::template train<Dp, Tp, Pp>;
    // Before the training, so that a text without these characters is refused at once
    const transformer::tokens beginning = Then == afterwards::text ? text.encoded("Of Man ") : transformer::tokens{};
    std::vector<double> losses;
    reports::recorded_steps<learning, options> recorded{ranks};
    auto world = make_world(ranks);
    std::printf("\n%d x %d x %d rank%s%s%s; %s\n", Dp, Tp, Pp, ranks > 1 ? "s" : "", Model::sequence_parallel ? ", sequence parallel" : "",
                Model::sharded_update ? ", sharded optimizer" : "", world.links().c_str());
    world.run([&](auto& rank) {
        dv::store store{rank};
        dv::executor<learning, options> learn{rank, store};
        const place at = place_of<Dp, Tp>(rank.index());
        const bool prints = at.stage == Pp - 1 && at.dp == 0 && at.tp == 0;  // the last stage has the loss
        const int done = begin<Model, Tp, Pp>(store, part, at);

        loss_file file{prints ? part.losses : ""};
        auto since = std::chrono::steady_clock::now();
        for (int i = done + 1, last_shown = done; i <= part.last_step; ++i) {
            const bool shown = i % part.every == 0, record = shown || i > part.last_step - 5;
            learn.record_times(record);
            const auto ticket = train_step<Model, Dp, Pp>(learn, text, i, at.dp);
            std::string line;
            if (prints) {
                losses.push_back(ticket.read(dv::name<mean_loss>)[0]);
                file.add(i, losses.back());
            }
            if (prints && shown) {
                const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - since;
                line = progress_line(i, losses.back(), (i - last_shown) * tokens_of_step / seconds.count());
                since = std::chrono::steady_clock::now();
                last_shown = i;
            }
            if (record) recorded.add(i, {rank.index(), at.stage, ticket.times()}, line);
            if (shown || i == part.last_step) save(store, part.save, at, i);
        }
        if constexpr (Then == afterwards::text) {
            static_assert(Pp == 1, "a rank that writes needs all layers");
            dv::executor<predict<Model, Dp, Tp>, options> predictor{rank, store};  // sees the same weights
            predictor.bind(dv::name<positions>, transformer::positions(1, length));
            write_on(predictor, text, beginning, 200, prints);
        }
    });
    if (!losses.empty()) reports::print<learning, options>(recorded.runs());  // else the files have all steps
    return losses;
}

// Whether a training that stops after 25 steps and is resumed from files has the losses of one that does not stop.
template <class Model, int Dp, int Pp, class World>
bool resumes(const transformer::text& text, World make_world, const std::vector<double>& whole) {
    const std::string name = "transformer." + std::to_string(::getpid()) + ".safetensors";
    const std::filesystem::path file = std::filesystem::temp_directory_path() / name;
    std::vector<double> losses = play<Model, Dp, 1, Pp>(text, make_world, {.last_step = 25, .save = file});
    std::printf("\nresumed from %s", file.c_str());
    const std::vector<double> rest = play<Model, Dp, 1, Pp>(text, make_world, {.last_step = 50, .resume = file});
    for (int stage = 0; stage < Pp; ++stage) std::filesystem::remove(file_of(file, stage));
    losses.insert(losses.end(), rest.begin(), rest.end());
    return std::equal(losses.begin(), losses.end(), whole.begin());
}

// Trains on 2 x 1 x 1 ranks and writes a text, without a comparison.
template <class World>
int train(const transformer::text& text, World make_world, const stretch& part) {
    play<model<small<element_on<World>>>, 2, 1, 1, afterwards::text>(text, make_world, part);
    return EXIT_SUCCESS;
}

// Writes the states before the first step and the losses of 100 steps on each mesh to a folder, for tests/examples/transformer.
template <class World>
int record(const transformer::text& text, World make_world, const std::filesystem::path& folder) {
    using exact = model<small<float>>;  // as transformer.py trains
    std::filesystem::create_directories(folder);
    bool written = true;
    const auto write = [&](const char* mesh, const std::vector<double>& losses) {
        std::ofstream file{folder / (std::string{"losses."} + mesh + ".txt")};
        file.precision(std::numeric_limits<float>::max_digits10);
        for (const double loss : losses) file << loss << '\n';
        written = file.flush() && written;
    };
    write("2x1x1", play<exact, 2, 1, 1>(text, make_world, {.last_step = 100, .initial = folder / "initial.safetensors"}));
    write("1x1x1", play<exact, 1, 1, 1>(text, make_world, {.last_step = 100}));
    write("1x2x1", play<exact, 1, 2, 1>(text, make_world, {.last_step = 100}));
    write("1x1x2", play<exact, 1, 1, 2>(text, make_world, {.last_step = 100}));
    write("untied", play<model<small<float, false, false>>, 1, 1, 1>(
                        text, make_world, {.last_step = 100, .initial = folder / "untied.safetensors"}));
    if constexpr (!World::on_gpus) write("2x2x2", play<exact, 2, 2, 2>(text, make_world, {.last_step = 100}));
    return written ? EXIT_SUCCESS : EXIT_FAILURE;
}

// A picture to draw.
struct picture {
    std::string file;            // empty: none
    std::vector<double> beside;  // losses of PyTorch; empty: none
};

// The losses of a file as --losses writes it. An empty path: none.
std::vector<double> losses_of(const std::string& path) {
    std::vector<double> losses;
    if (path.empty()) return losses;
    std::ifstream file{path};
    bool in_turn = true;
    std::size_t step = 0;
    for (double loss = 0; file >> step >> loss; losses.push_back(loss)) in_turn = in_turn && step == losses.size() + 1;
    if (!in_turn || losses.empty() || !file.eof()) throw std::runtime_error{path + " is not a file of losses by step, from step 1 on"};
    return losses;
}

// Writes the losses as a picture. The meshes are those of `compare`.
bool plot(const picture& drawn, const std::vector<std::vector<double>>& by_mesh) {
    static constexpr const char* meshes[] = {"2 x 1 x 1", "1 x 1 x 1", "1 x 2 x 1", "1 x 1 x 2", "2 x 2 x 1", "2 x 2 x 2"};
    const std::string& file = drawn.file;
    std::vector<reports::curve> curves;
    for (std::size_t i = 0; i < by_mesh.size(); ++i) curves.push_back({meshes[i], by_mesh[i]});
    if (!drawn.beside.empty()) curves.push_back({"PyTorch", drawn.beside});
    std::ofstream to{file};
    to << reports::loss_plot{curves}.text();
    const bool written = static_cast<bool>(to.flush());
    std::printf("\n%s %s\n", written ? "the losses are drawn in" : "FAILED: cannot write", file.c_str());
    return written;
}

template <class World>
int compare(const transformer::text& text, World make_world, const picture& losses) {
    using element = element_on<World>;
    using trained = model<small<element>>;
    const double tolerance = std::is_same_v<element, float> ? 1e-4 : 2e-3;
    std::vector<std::vector<double>> by_mesh{play<trained, 2, 1, 1, afterwards::text>(text, make_world, {.last_step = 400}),
                                             play<trained, 1, 1, 1>(text, make_world, {.last_step = 25}),
                                             play<trained, 1, 2, 1>(text, make_world, {.last_step = 25}),
                                             play<trained, 1, 1, 2>(text, make_world, {.last_step = 50})};
    if (World::has(4)) by_mesh.push_back(play<model<small<element, true>>, 2, 2, 1>(text, make_world, {.last_step = 25}));
    if constexpr (!World::on_gpus) by_mesh.push_back(play<trained, 2, 2, 2>(text, make_world, {.last_step = 25}));
    double apart = 0;  // the largest relative difference
    for (const std::vector<double>& losses : by_mesh)
        for (std::size_t i = 0; i < 25; ++i) {
            const double difference = std::abs(losses[i] / by_mesh[0][i] - 1);
            if (std::isnan(difference) || difference > apart) apart = difference;  // NaN stays: nothing is greater
        }
    const bool equal = apart <= tolerance;
    const auto mean = [&](std::size_t first) { return std::accumulate(&by_mesh[0][first], &by_mesh[0][first] + 10, 0.0) / 10; };
    const bool resumed =
        resumes<trained, 2, 1>(text, make_world, by_mesh[0]) && resumes<trained, 1, 2>(text, make_world, by_mesh[3]);
    const bool learned = mean(by_mesh[0].size() - 10) < 2.2;  // what knows only the character before has 2.4
    std::printf("\n%s: the same losses on %zu meshes up to rounding, at most %.1e apart (relative)\n", equal ? "as it should be" : "FAILED",
                by_mesh.size(), apart);
    std::printf("%s: the same losses when resumed, bit by bit\n", resumed ? "as it should be" : "FAILED");
    std::printf("%s: from a loss of %.2f to %.2f\n", learned ? "as it should be" : "FAILED", by_mesh[0][0], mean(by_mesh[0].size() - 10));
    const bool drawn = losses.file.empty() || plot(losses, by_mesh);
    return equal && resumed && learned && drawn ? EXIT_SUCCESS : EXIT_FAILURE;
}
}  // namespace app

int main(int count, char** arguments) {
    std::string folder, picture, beside;  // to record to, of the losses, and of PyTorch's losses; empty: none
    std::string file = transformer::default_path();
    app::stretch training{.last_step = 400};
    bool trains = false;  // only `training`, without a comparison
    const words::command_line taken{.options = {{"--record", &folder},
                                                {"--plot", &picture},
                                                {"--beside", &beside},
                                                {"--save", &training.save, &trains},
                                                {"--resume", &training.resume, &trains},
                                                {"--losses", &training.losses, &trains},
                                                {"--steps", &training.last_step, &trains},
                                                {"--every", &training.every, &trains}},
                                    .file = &file};
    const dv::host::link link{worlds::link_latency, static_cast<double>(worlds::link_bandwidth)};
    return worlds::choose(count, arguments, taken, link, [&](auto make_world) {
        if (!folder.empty() + !picture.empty() + trains > 1)
            throw std::runtime_error{"--record, --plot and the options of a training do not go together"};
        if (picture.empty() && !beside.empty()) throw std::runtime_error{"--beside is for --plot"};
        const app::picture losses{picture, app::losses_of(beside)};
        const transformer::text text = transformer::load(file);
        if (trains) return app::train(text, make_world, training);
        return folder.empty() ? app::compare(text, make_world, losses) : app::record(text, make_world, folder);
    });
}
