// Several executors on the same simulated GPUs, in turn and in flight, on streams and replayed in every mixture: each gives what
// it gives alone. What orders them against each other are the events behind the last run.
#include "support/samples.hpp"
#include "support/simulated_cuda.hpp"

#include <dovetail/launch/executor.hpp>

#include <doctest/doctest.h>

namespace dv = dovetail;
using namespace samples;
using namespace std::chrono_literals;
using floats = std::vector<float>;

namespace {

std::mutex report;
void expect(const floats& got, const floats& wanted, const char* what, int rank, int round) {
    const std::lock_guard lock{report};
    CAPTURE(what);
    CAPTURE(rank);
    CAPTURE(round);
    CHECK(got == wanted);
}
struct gradient; struct averaged;
struct accumulate : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<x, vector>,
    dv::state<gradient, vector, zeros>,
    dv::update<gradient, add(gradient, x)>> {};
struct apply : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::state<gradient, vector, dv::from_store>,
    dv::state<weight, vector, zeros, dv::replicated<dp>>,
    dv::let<averaged, all_reduce<average, dp>(gradient)>,
    dv::update<weight, subtract(weight, averaged)>,
    dv::update<gradient, subtract(gradient, gradient)>,
    dv::let<y, copy(weight)>,
    dv::output<y>> {};

template <class Options>
void in_turn(dv::replay_mode one, dv::replay_mode other, int ahead) {
    const simulated::scope simulation;
    simulated::run(2, [&](auto& rank) {
        dv::executor<crossing_pair, Options> first{rank, one, 60s};
        dv::executor<channel_first, Options> second{rank, other, 60s};
        std::vector<dv::ticket<crossing_pair>> of_first;
        std::vector<dv::ticket<channel_first>> of_second;
        for (int round = 0; round < 6; ++round) {
            of_first.clear();
            of_second.clear();
            const auto value = [&](int k) { return static_cast<float>(3 * round + k + 1); };
            for (int k = 0; k < ahead; ++k) {
                of_first.push_back(first.bind(dv::name<x>, floats(8, value(k))).run());
                // Not always in turn: the same order on both ranks, and that is all.
                for (int again = 0; again < (round + k) % 3; ++again) of_second.push_back(second.bind(dv::name<x>, floats(8, value(k))).run());
            }
            for (int k = 0; k < ahead; ++k) {
                const float v = value(k);
                const auto& t = of_first[static_cast<std::size_t>(k)];
                if (rank.is(dv::name<left>)) expect(t.read(dv::name<c>).host(), floats(8, 2 * v + v * v), "c", rank.index(), round);
                else expect(t.read(dv::name<d>).host(), floats(8, 2 * v - v * v), "d", rank.index(), round);
            }
            if (!of_second.empty()) {
                int k = ahead - 1;
                while ((round + k) % 3 == 0) --k;
                const float v = value(k);
                if (rank.is(dv::name<right>)) expect(of_second.back().read(dv::name<c>).host(), floats(8, 2 * v), "c of the second", rank.index(), round);
                else expect(of_second.back().read(dv::name<d>).host(), floats(8, 4 * v + 2 * v * v), "d of the second", rank.index(), round);
            }
        }
    });
}

}  // namespace

TEST_CASE("two graphs that communicate") {
    for (const auto one : {dv::replay_mode::never, dv::replay_mode::always})
        for (const auto other : {dv::replay_mode::never, dv::replay_mode::always}) {
            in_turn<sequential>(one, other, 1);
            in_turn<overlapped>(one, other, 1);
            in_turn<dv::options<slow_links, dv::in_flight<6>, dv::channel_slots<2>>>(one, other, 3);
        }
}

TEST_CASE("two graphs that share a state through a store") {
    for (const auto one : {dv::replay_mode::never, dv::replay_mode::always})
        for (const auto other : {dv::replay_mode::never, dv::replay_mode::always}) {
            const simulated::scope simulation;
            simulated::run(2, [&](auto& rank) {
                dv::store store{rank};
                dv::executor<accumulate, overlapped> micro{rank, store, one, 60s};
                dv::executor<apply, overlapped> step{rank, store, other, 60s};
                float wanted = 0;
                for (int k = 0; k < 5; ++k) {
                    float sum = 0;
                    for (int m = 0; m < 3; ++m) {
                        micro.bind(dv::name<x>, floats(8, static_cast<float>(2 * rank.index() + m + k))).run();
                        for (int l = 0; l < 2; ++l) sum += static_cast<float>(2 * l + m + k);
                    }
                    wanted -= sum / 2;
                    expect(step.run().read(dv::name<y>).host(), floats(8, wanted), "weights", rank.index(), k);
                    if (k % 2 == 0) expect(store.template read<vector>(dv::name<gradient>), floats(8, 0.0f), "gradients", rank.index(), k);
                }
            });
        }
}
