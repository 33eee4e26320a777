// Collectives by copy engines among processes that share one real GPU: values equal to the host's on streams and replayed, among two to
// eight ranks, with every element type and reduction, in thousands of runs beside kernels that disturb them, and a rank that gives up.
#include "gpu/disturbance.hpp"
#include "gpu/in_flight.hpp"
#include "support/exercise.hpp"
#include "support/samples.hpp"
#include "support/shared_gpu.hpp"

#include <dovetail/launch/host/world.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstring>

namespace dv = dovetail;
using namespace std::chrono_literals;

namespace app {
using namespace dv::ops;
struct x;
struct tp;
template <int> struct moved;
template <int> struct reduced;
template <int> struct half_reduced;

template <class T, int Ranks>
using rows = dv::tensor<T, 16 * Ranks, 5>;
// All movement and reductions of one element type; three rows are not divided among the ranks.
template <class T, int Ranks>
struct all_kinds : dv::graph<dv::mesh<dv::axis<tp, Ranks>>, dv::input<x, rows<T, Ranks>>,
                             dv::let<moved<0>, all_gather<tp>(x)>,
                             dv::let<moved<1>, all_to_all<tp>(x)>,
                             dv::let<moved<2>, broadcast<tp, root_index<1>>(x)>,
                             dv::let<moved<3>, shift<tp, 1>(x)>,
                             dv::let<moved<4>, scatter<tp, root_index<0>>(x)>,
                             dv::let<reduced<0>, all_reduce<sum, tp>(x)>,
                             dv::let<reduced<1>, reduce_scatter<maximum, tp>(x)>,
                             dv::let<reduced<2>, all_reduce<average, tp>(moved<3>)>,
                             dv::let<reduced<3>, all_reduce<minimum, tp>(reduced<1>)>,
                             dv::let<reduced<4>, all_reduce<product, tp>(moved<1>)>,
                             dv::output<dv::all<5, moved>, dv::all<5, reduced>>> {};
using vector = dv::tensor<float, 1 << 16>;
template <int Ranks>
struct summed_by : dv::graph<dv::mesh<dv::axis<tp, Ranks>>, dv::input<x, vector>, dv::let<reduced<0>, all_reduce<sum, tp>(x)>,
                             dv::let<reduced<1>, all_reduce<sum, tp>(add(reduced<0>, x))>, dv::output<reduced<1>>> {};
using summed = summed_by<4>;

using several_copied = samples::several_copied;
}  // namespace app

namespace {

// What differs on this rank from the host, of runs on streams and replayed.
template <class G, class O>
std::string compared(dv::cuda::rank& rank, int ahead) {
    constexpr int runs = 5;
    support::outputs wanted;
    dv::host::world{rank.size()}.run([&](auto& on_host) {
        support::outputs got = support::exercise<G, O>(on_host, runs, ahead);
        if (on_host.index() == rank.index()) wanted = std::move(got);
    });
    std::string text;
    if (support::exercise<G, O>(rank, runs, ahead) != wanted) text += "different on streams;";
    if (support::exercise<G, O>(rank, runs, ahead, dv::replay) != wanted) text += "different replayed;";
    return text;
}
// What a rank says of its comparisons: a rank that ends without a word is not equal.
std::string equal_unless(const std::string& different) { return different.empty() ? "equal" : different; }
void expect_equal(const std::vector<std::string>& said, const char* what) {
    CAPTURE(what);
    for (const std::string& text : said) CHECK(text == "equal");
}
template <class G>
void compare_copies(int ranks, const char* what) {
    expect_equal(support::on_shared_gpu(ranks, 60s,
                                        [](auto& rank) {
                                            return equal_unless(compared<G, samples::copied_in_turn>(rank, 1) +
                                                                compared<G, samples::copied>(rank, 1) +
                                                                compared<G, samples::several_copied>(rank, 3));
                                        }),
                 what);
}
template <class G>
void compare_several(int ranks, const char* what) {
    const auto said =
        support::on_shared_gpu(ranks, 60s, [](auto& rank) { return equal_unless(compared<G, samples::several_copied>(rank, 3)); });
    expect_equal(said, what);
}
template <class T>
void compare_types(const char* what) {
    compare_several<app::all_kinds<T, 2>>(2, what);
    compare_several<app::all_kinds<T, 3>>(3, what);
}

}  // namespace

TEST_CASE("sample graphs with collectives by copy engines") {
    compare_copies<samples::sums>(4, "sums");
    compare_copies<samples::along_an_axis>(2, "along_an_axis");
    compare_copies<samples::split_chain<4>>(2, "split_chain");
    compare_copies<samples::sharded_stream<dv::decompose>>(4, "sharded_stream");
    compare_copies<samples::ring_of_three>(3, "ring_of_three");
}

TEST_CASE("every element type") {
    compare_types<dv::half>("half");
    compare_types<dv::bfloat16>("bfloat16");
    compare_types<float>("float");
    compare_types<double>("double");
    compare_types<std::int8_t>("int8");
    compare_types<std::uint8_t>("uint8");
    compare_types<std::int32_t>("int32");
    compare_types<std::uint32_t>("uint32");
    compare_types<std::int64_t>("int64");
    compare_types<std::uint64_t>("uint64");
}

TEST_CASE("two to eight ranks") {
    compare_several<app::all_kinds<float, 4>>(4, "4");
    compare_several<app::all_kinds<dv::half, 5>>(5, "5");
    compare_several<app::all_kinds<float, 8>>(8, "8");
}

namespace {

constexpr int inputs = 7;

// In `runs` runs, of which three are in flight: how often the bits of a result are not those of the first run with that input; then the
// hash of the results.
std::string run_often(dv::cuda::rank& rank, dv::replay_mode how, int runs) {
    dv::executor<app::summed, app::several_copied> step{rank, 60s, how};
    std::vector<std::vector<float>> bound(inputs, std::vector<float>(app::vector::size)), wanted(inputs);
    for (int i = 0; i < inputs; ++i)
        for (std::size_t k = 0; k < bound[i].size(); ++k)
            bound[i][k] = 1e-3f * static_cast<float>((k * 7919 + static_cast<std::size_t>(i * 104729 + rank.index() * 15485863)) % 100003);
    int wrong = 0;
    const auto read = [&](const dv::ticket<app::summed>& ticket, int run) {
        std::vector<float> got = ticket.read(dv::name<app::reduced<1>>).host();
        std::vector<float>& first = wanted[static_cast<std::size_t>(run % inputs)];
        if (first.empty())
            first = std::move(got);
        else
            wrong += std::memcmp(first.data(), got.data(), got.size() * sizeof(float)) == 0 ? 0 : 1;
    };
    gpu::run_in_flight(step, runs, [&](int k) { step.bind(dv::name<app::x>, bound[static_cast<std::size_t>(k % inputs)]); }, read);
    std::uint64_t hash = 14695981039346656037u;
    for (const std::vector<float>& of_input : wanted)
        for (const float x : of_input) {
            std::uint32_t bits = 0;
            std::memcpy(&bits, &x, sizeof bits);
            hash = (hash ^ bits) * 1099511628211u;
        }
    return std::to_string(wrong) + " wrong, " + std::to_string(hash);
}

}  // namespace

TEST_CASE("thousands of runs and replays beside kernels that disturb them: the same bits on all ranks and in all runs") {
    const auto said = support::on_shared_gpu(4, 100s, [](auto& rank) {
        const gpu::disturbance beside;
        const std::string streams = run_often(rank, dv::replay_mode::never, 2000);
        const std::string replayed = run_often(rank, dv::replay_mode::always, 2000);
        return streams == replayed ? streams : "different replayed: " + streams + " and " + replayed;
    });
    for (const std::string& text : said) {
        CHECK(text == said[0]);
        CHECK(text.substr(0, 8) == "0 wrong,");
    }
}

TEST_CASE("a rank that gives up at any moment ends the others") {
    for (int after = 0; after < 6; ++after) {
        const auto said = support::on_shared_gpu(3, 40s, [=](auto& rank) {
            dv::executor<app::summed_by<3>, app::several_copied> step{rank, 30s,
                                                                      after % 2 == 0 ? dv::replay_mode::never : dv::replay_mode::always};
            step.bind(dv::name<app::x>, std::vector<float>(app::vector::size, 1.0f));
            for (int k = 0; k < 200; ++k) {
                if (rank.index() == after % 3 && k == after) throw std::runtime_error{"given up"};
                step.run();
            }
            return std::string{"the error is lost"};
        });
        CAPTURE(after);
        for (const std::string& text : said) {
            CAPTURE(text);
            const bool named = text.find("given up") != std::string::npos || text.find("destroyed the executor") != std::string::npos;
            CHECK(named);
        }
    }
}
