// Graphs that run in turn on the same ranks, on any backend: a graph waits for the work of another one with which it shares a state, even
// with others between them.
#pragma once

#include "expect.hpp"
#include "samples.hpp"

#include <dovetail/launch/executor.hpp>

#include <chrono>
#include <string>
#include <thread>

namespace turns {

namespace dv = dovetail;
using namespace samples;
using floats = std::vector<float>;

// Accumulate and apply: gradients of several micro-batches are summed on each position, then averaged over the positions and applied.
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

// The second sum is of what the compute position makes: the next run overwrites it.
struct two_sums : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<x, vector>,
    dv::let<a, add(x, x)>,
    dv::let<b, all_reduce<sum, dp>(x)>,
    dv::let<y, all_reduce<sum, dp>(a)>,
    dv::output<b, y>> {};
// Has no communication, and a state of its own.
struct aside : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<x, vector>,
    dv::state<count, vector, zeros>,
    dv::update<count, add(count, x)>> {};

// Writes a state late; another graph sends it off.
struct slowly {
    static constexpr dv::tensor_type result(dv::tensor_type t, dv::tensor_type) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::inout<X> to, dv::in<X> more) {
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
        for (std::int64_t i = 0; i < X::size; ++i) to[i] += more[i];
    }
};
struct writes : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<x, vector>,
    dv::state<weight, vector, zeros>,
    dv::update<weight, slowly(weight, x)>> {};
struct sends : dv::graph<
    dv::mesh<dv::axis<dp>>,
    dv::input<x, vector>,
    dv::state<weight, vector, dv::from_store>,
    dv::let<c, add(x, x)>,
    dv::let<y, all_reduce<sum, dp>(weight)>,
    dv::output<c, y>> {};

// Two ranks, of which the second comes late. `how`: more arguments for the executors.
template <class Rank, class... How>
void another_between_two_runs(Rank& rank, How... how) {
    dv::executor<two_sums, several> step{rank, how...};
    dv::executor<aside, several> other{rank, how...};
    step.bind(dv::name<x>, floats(8, 100.0f)).run().wait();
    other.bind(dv::name<x>, floats(8, 1.0f)).run().wait();
    if (rank.index() == 1) std::this_thread::sleep_for(std::chrono::milliseconds{150});
    const auto before = step.bind(dv::name<x>, floats(8, 1.0f)).run();
    other.run();
    const auto after = step.bind(dv::name<x>, floats(8, 10.0f)).run();
    if (rank.index() == 0) std::this_thread::sleep_for(std::chrono::milliseconds{50});
    support::expect(before.read(dv::name<b>).host(), floats(8, 2.0f), "the input's sum", rank.index(), 1);
    support::expect(before.read(dv::name<y>).host(), floats(8, 4.0f), "the sum of what was made", rank.index(), 1);
    support::expect(after.read(dv::name<b>).host(), floats(8, 20.0f), "the input's sum", rank.index(), 2);
    support::expect(after.read(dv::name<y>).host(), floats(8, 40.0f), "the sum of what was made", rank.index(), 2);
}
template <class Rank, class... How>
void another_between_two_on_a_store(Rank& rank, How... how) {
    dv::store shared{rank};
    dv::executor<writes, overlapped> first{rank, shared, how...};
    dv::executor<sends, overlapped> second{rank, shared, how...};
    dv::executor<aside, overlapped> other{rank, how...};
    for (auto value = 1; value < 4; ++value) {
        first.bind(dv::name<x>, floats(8, 1.0f)).run();
        other.bind(dv::name<x>, floats(8, 1.0f)).run();
        support::expect(second.bind(dv::name<x>, floats(8, 1.0f)).run().read(dv::name<y>).host(), floats(8, static_cast<float>(2 * value)),
                        "the state's sum", rank.index(), value);
    }
}

}  // namespace turns
