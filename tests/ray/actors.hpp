// What the tests of this folder share: the methods of its test actors as statements, and runs in flight.
#pragma once

#include "names.hpp"
#include "support/on_host.hpp"

#include <dovetail/core/display.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace ray {

using namespace std::chrono_literals;
using floats = std::vector<float>;

template <int> struct total;  // the state of an actor

// The method `inc`: adds to what the actor has, and returns the sum.
template <int Actor, class Result, class X>
using inc = dv::group<dv::update<total<Actor>, add(total<Actor>, X)>, dv::let<Result, copy(total<Actor>)>>;
template <int Actor, int Value = 0>
using starts_with = dv::state<total<Actor>, number, constant<Value>>;
template <int Actor, int Value, class... Calls>
using stateful = dv::on<actor<Actor>, starts_with<Actor, Value>, Calls...>;

template <int I> using argument = dv::input<in<I>, number>;
template <int N> using arguments = dv::repeat<argument, N>;

// The method `collect`: its arguments side by side. (Ray's keeps those of all runs, in a list without a fixed length.)
struct collect {
    static constexpr dv::tensor_type result(dv::tensor_type a, dv::tensor_type) { return a.with_extents(2); }
    static constexpr dv::tensor_type result(dv::tensor_type a, dv::tensor_type, dv::tensor_type) { return a.with_extents(3); }
    template <class X, class Y>
    static void launch(dv::host::stream, dv::in<X> a, dv::in<X> b, dv::out<Y> to) {
        to[0] = a[0];
        to[1] = b[0];
    }
    template <class X, class Y>
    static void launch(dv::host::stream, dv::in<X> a, dv::in<X> b, dv::in<X> c, dv::out<Y> to) {
        to[0] = a[0];
        to[1] = b[0];
        to[2] = c[0];
    }
};

// Whether a graph's error is this one, whatever it names.
template <template <class...> class Error, class Found>
inline constexpr bool is_error = false;
template <template <class...> class Error, class... Names>
inline constexpr bool is_error<Error, Error<Names...>> = true;
template <template <class...> class Error, class... Statements>
inline constexpr bool refused = is_error<Error, dv::plan::diagnose<dv::graph<Statements...>>>;

// bind(step, run) before each run; check(step, ticket, rank, run) behind it. Up to `Ahead` runs are in flight, and the last of them is read
// first.
template <class G, class O, int Ahead>
void run(int ranks, int runs, auto bind, auto check) {
    dv::host::world world{ranks};
    world.run([&](auto& rank) {
        dv::executor<G, O> step{rank, 60s};
        for (int first = 0; first < runs; first += Ahead) {
            std::vector<dv::ticket<G>> tickets;
            const int last = std::min(first + Ahead, runs) - 1;
            for (int k = first; k <= last; ++k) {
                bind(step, k);
                tickets.push_back(step.run());
            }
            for (int k = last; k >= first; --k) check(step, tickets[static_cast<std::size_t>(k - first)], rank.index(), k);
        }
    });
}
// With overlap: one run after the other, and three in flight.
template <class G>
void run_overlapped(int ranks, auto bind, auto check) {
    run<G, samples::overlapped, 1>(ranks, 3, bind, check);
    run<G, samples::several, 3>(ranks, 6, bind, check);
}

// Expects that an output has this value on the rank that plays the role.
template <class Role, class Output>
void expect(auto& step, const auto& ticket, int rank, int run, const floats& wanted) {
    if (step.is(dv::name<Role>)) support::expect(ticket.read(dv::name<Output>).host(), wanted, dv::display(dv::tag_of<Output>), rank, run);
}

// Where an output is read.
template <class Role, class Output>
struct at {
    static void check(auto& step, const auto& ticket, int rank, int run, const floats& row, std::size_t& next) {
        using reading = decltype(ticket.read(dv::name<Output>));
        const auto begin = row.begin() + static_cast<std::ptrdiff_t>(next);
        next += static_cast<std::size_t>(reading::size());
        ray::expect<Role, Output>(step, ticket, rank, run, floats(begin, begin + reading::size()));
    }
};

// Runs the graph with a row of inputs each time, three runs in flight, and expects a row of outputs. A second executor, with states of its
// own, has its inputs bound in the opposite order.
template <std::size_t N, class G, class... Outputs>
void gives(int ranks, const std::vector<std::array<float, N>>& given, const std::vector<floats>& wanted) {
    for (const bool forward : {true, false})
        ray::run<G, samples::several, 3>(
            ranks, static_cast<int>(given.size()),
            [&](auto& step, int run) {
                const auto& row = given[static_cast<std::size_t>(run)];
                const auto bind_all = [&]<std::size_t... I>(std::index_sequence<I...>) {
                    if (forward) (step.bind(dv::name<in<int{I}>>, row[I]), ...);
                    else (step.bind(dv::name<in<int{N - 1 - I}>>, row[N - 1 - I]), ...);
                };
                bind_all(std::make_index_sequence<N>{});
            },
            [&](auto& step, auto& ticket, int rank, int run) {
                const floats& row = wanted[static_cast<std::size_t>(run)];
                std::size_t next = 0;
                (Outputs::check(step, ticket, rank, run, row, next), ...);
                const std::lock_guard lock{support::report()};
                CHECK(next == row.size());
            });
}

}  // namespace ray
