// Weights of bfloat16 with masters of float, as examples/gpt.hpp trains them on GPUs: here on the host, against weights of float.
#include "../../examples/gpt.hpp"

#include <dovetail/launch/executor.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace dv = dovetail;

namespace {
constexpr int steps = 10;
using mixed = gpt::model<gpt::small<dv::bfloat16>>;

// Trains on one rank, and gives the store to `look`. Returns the loss of each step.
template <class Model, class Look>
std::vector<float> train(Look look) {
    std::vector<float> losses;
    const transformer::text text = transformer::load();
    dv::host::world{1}.run([&](auto& rank) {
        dv::store store{rank};
        dv::executor<typename Model::template train<1, 1>, gpt::plan_options<1, worlds::host_threads>> learn{rank, store};
        gpt::first_weights<Model, 1>{store, {0, 0, 0}}.template write<1>();
        for (int i = 1; i <= steps; ++i) losses.push_back(gpt::train_step<Model, 1, 1>(learn, text, i, 0).read(dv::name<gpt::mean_loss>)[0]);
        look(store);
    });
    return losses;
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
    const std::vector<float> rounded = train<mixed>([&](const dv::store& store) {
        of_layer = compare<gpt::w1<0>, mixed::size, mixed::hidden_size>(store);
        of_table = compare<gpt::token_table, mixed::vocabulary, mixed::size>(store);
    });
    const std::vector<float> exact = train<gpt::model<gpt::small<float>>>([](const dv::store&) {});
    REQUIRE(rounded.size() == exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i) CHECK(std::abs(rounded[i] - exact[i]) <= 0.01f * exact[i]);
    CHECK(rounded != exact);
    CHECK(exact.back() < exact.front() - 0.5f);
    for (const agreement& found : {of_layer, of_table}) {
        CHECK(found.weights > 4000);
        CHECK(found.rounded == found.weights);
        CHECK(found.finer > found.weights * 9 / 10);
    }
}
