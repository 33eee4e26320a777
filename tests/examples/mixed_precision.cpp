// Weights of bfloat16 with masters of float, as examples/04_transformer trains them on GPUs: here on the host, against weights of float.
#include "../../examples/gpt.hpp"

#include <dovetail/launch/executor.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

namespace dv = dovetail;

namespace {
constexpr int steps = 10;
using mixed = gpt::model<gpt::small<dv::bfloat16>>;

// Trains on Dp x 1 x Pp ranks. `begin` and `end` are given each rank's store and place before the first step and after the last one.
// Returns the loss of each step.
template <class Model, int Dp, int Pp, class Begin, class End>
std::vector<float> train(int first_step, int last_step, Begin begin, End end) {
    std::vector<float> losses;
    const transformer::text text = transformer::load();
    dv::host::world{Dp * Pp}.run([&](auto& rank) {
        const gpt::place at = gpt::place_of<Dp, 1>(rank.index());
        dv::store store{rank};
        dv::executor<typename Model::template train<Dp, 1, Pp>, gpt::plan_options<Dp * Pp, worlds::host_threads>> learn{rank, store};
        gpt::first_weights<Model, 1>{store, at}.template write<Pp>();
        begin(store, at);
        for (int i = first_step; i <= last_step; ++i) {
            const auto ticket = gpt::train_step<Model, Dp, Pp>(learn, text, i, at.dp);
            if (at.stage == Pp - 1 && at.dp == 0) losses.push_back(ticket.read(dv::name<gpt::mean_loss>)[0]);
        }
        end(store, at);
    });
    return losses;
}
constexpr auto nothing = [](const dv::store&, gpt::place) {};

bool close(const std::vector<float>& a, const std::vector<float>& b, float tolerance) {
    for (std::size_t i = 0; i < b.size(); ++i)
        if (!(std::abs(a.at(i) - b[i]) <= tolerance * b[i])) return false;
    return a.size() == b.size();
}

// How many weights are their masters, rounded; and of how many the master has bits that are lost.
struct agreement {
    int weights = 0, rounded = 0, finer = 0;
};
template <class Name, int Rows, int Columns>
agreement compare(const dv::store& store) {
    const std::vector<dv::bfloat16> weights = store.read<dv::tensor<dv::bfloat16, Rows, Columns>>(dv::name<Name>);
    const std::vector<float> masters = store.read<dv::tensor<float, Rows, Columns>>(dv::name<gpt::master<Name>>);
    agreement found;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        ++found.weights;
        found.rounded += static_cast<float>(weights[i]) == static_cast<float>(dv::bfloat16{masters[i]}) ? 1 : 0;
        found.finer += static_cast<float>(weights[i]) != masters[i] ? 1 : 0;
    }
    return found;
}
}  // namespace

TEST_CASE("weights of bfloat16 with masters of float learn as weights of float do") {
    agreement of_layer, of_table;
    const std::vector<float> rounded = train<mixed, 1, 1>(1, steps, nothing, [&](const dv::store& store, gpt::place) {
        of_layer = compare<gpt::w1<0>, mixed::size, mixed::hidden_size>(store);
        of_table = compare<gpt::token_table, mixed::vocabulary, mixed::size>(store);
    });
    const std::vector<float> exact = train<gpt::model<gpt::small<float>>, 1, 1>(1, steps, nothing, nothing);
    CHECK(close(rounded, exact, 5e-3f));
    CHECK(rounded != exact);
    CHECK(exact.back() < exact.front() - 0.5f);
    for (const agreement& found : {of_layer, of_table}) {
        CHECK(found.weights > 4000);
        CHECK(found.rounded == found.weights);
        CHECK(found.finer > found.weights * 9 / 10);
    }
}

TEST_CASE("they do on several ranks and stages as well, and when resumed from files") {
    const std::string name = "mixed_precision." + std::to_string(::getpid()) + ".safetensors";
    const std::filesystem::path file = std::filesystem::temp_directory_path() / name;
    const auto file_of = [&](gpt::place at) { return file.string() + '.' + std::to_string(at.stage); };
    const auto save = [&](const dv::store& store, gpt::place at) {
        if (at.dp == 0) store.save(file_of(at));
    };
    const std::vector<float> alone = train<mixed, 1, 1>(1, steps, nothing, nothing);
    const std::vector<float> whole = train<mixed, 2, 2>(1, steps, nothing, nothing);
    std::vector<float> resumed = train<mixed, 2, 2>(1, steps / 2, nothing, save);
    const std::vector<float> rest = train<mixed, 2, 2>(
        steps / 2 + 1, steps, [&](dv::store& store, gpt::place at) { store.load(file_of(at)); }, nothing);
    resumed.insert(resumed.end(), rest.begin(), rest.end());
    for (int stage = 0; stage < 2; ++stage) std::filesystem::remove(file_of({stage, 0, 0}));
    CHECK(close(whole, alone, 2e-3f));
    CHECK(resumed == whole);
}
