// Values under overlap: what Ray tests, and what it does not test and gets wrong in version 2.60: several sends with several runs in flight
// (wrong values), and an edge between two tasks of one actor beside a transfer (it hangs).
#include "actors.hpp"
#include "graphs.hpp"

#include <thread>

using namespace ray;
using samples::overlapped, samples::sequential, samples::several;

namespace {

// A method that takes so long that whoever is ahead overtakes it. The time differs from run to run.
struct slowly_doubled {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> to) {
        std::this_thread::sleep_for(std::chrono::microseconds{200 * (static_cast<int>(from[0]) % 5)});
        for (std::int64_t i = 0; i < X::size; ++i) to[i] = 2 * from[i];
    }
};

// Three senders, each with a matrix of its own, and a receiver that squares them.
constexpr int size = 16;
using matrix = dv::tensor<dv::half, size, size>;
template <int I> using sent = dv::on<actor<I>, dv::input<in<I>, number>, dv::let<v<I>, fill<matrix>(in<I>)>>;
template <int I> using squared = dv::let<out<I>, matmul(v<I>, v<I>)>;
struct three_senders : dv::graph<
    dv::repeat<sent, 3>,
    dv::on<actor<3>, dv::repeat<squared, 3>>,
    dv::output<dv::all<3, out>>> {};
static_assert(dv::hidden_fraction<three_senders, sequential> == 0);
static_assert(dv::hidden_fraction<three_senders, overlapped> > 0);

template <class O>
void receives_three() {
    // Multiples of a quarter, so that half has the sums exactly.
    const auto value = [](int sender, int run) { return 0.25f * static_cast<float>(1 + sender + run); };
    ray::run<three_senders, O, 1>(
        4, 5,
        [&](auto& step, int run) {
            step.bind(dv::name<in<0>>, value(0, run)).bind(dv::name<in<1>>, value(1, run)).bind(dv::name<in<2>>, value(2, run));
        },
        [&](auto& step, auto& ticket, int rank, int run) {
            if (!step.is(dv::name<actor<3>>)) return;
            const auto check = [&](const std::vector<dv::half>& got, int sender) {
                floats plain;
                for (const dv::half h : got) plain.push_back(float{h});
                support::expect(plain, floats(matrix::size, size * value(sender, run) * value(sender, run)), "product", rank, run);
            };
            check(ticket.read(dv::name<out<0>>).host(), 0);
            check(ticket.read(dv::name<out<1>>).host(), 1);
            check(ticket.read(dv::name<out<2>>).host(), 2);
        });
}

// From one actor to another, a graph for each size.
template <int Size>
struct sends : dv::graph<
    dv::input<in<0>, dv::tensor<float, Size>>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>>,
    dv::on<actor<1>, dv::let<out<0>, copy(v<0>)>>,
    dv::output<out<0>>> {};
template <int Size>
struct sends_back : dv::graph<
    dv::input<in<0>, dv::tensor<float, Size>>,
    dv::on<actor<0>, dv::let<out<0>, copy(v<0>)>>,
    dv::on<actor<1>, dv::let<v<0>, add(in<0>, in<0>)>>,
    dv::output<out<0>>> {};

template <int Size, class O>
void sends_of_size(auto& rank) {
    dv::executor<sends<Size>, O> there{rank, 60s};
    dv::executor<sends_back<Size>, O> back{rank, 60s};  // the same actors again, in another graph
    for (int run = 0; run < 3; ++run) {
        const floats given(Size, static_cast<float>(run + 1)), doubled(Size, static_cast<float>(2 * (run + 1)));
        const auto first = there.bind(dv::name<in<0>>, given).run();
        const auto second = back.bind(dv::name<in<0>>, given).run();
        ray::expect<actor<1>, out<0>>(there, first, rank.index(), run, given);
        ray::expect<actor<0>, out<0>>(back, second, rank.index(), run, doubled);
    }
}
template <class O>
void sends_of_three_sizes() {
    dv::host::world{2}.run([](auto& rank) {
        sends_of_size<10, O>(rank);
        sends_of_size<20, O>(rank);
        sends_of_size<30, O>(rank);
    });
}

using row = dv::tensor<float, 8>;
floats ramp(int which, int run) {
    floats all;
    for (int i = 0; i < row::size; ++i) all.push_back(static_cast<float>(1 + 3 * which + 7 * run + i));
    return all;
}
floats each(const floats& a, const floats& b, auto f) {
    floats all;
    for (std::size_t i = 0; i < a.size(); ++i) all.push_back(f(a[i], b[i]));
    return all;
}

template <class O, int Ahead>
void many_values() {
    ray::run<many_sends<slowly_doubled, row>, O, Ahead>(
        2, 6,
        [](auto& step, int run) {
            step.bind(dv::name<in<0>>, ramp(0, run)).bind(dv::name<in<1>>, ramp(1, run));
            step.bind(dv::name<in<2>>, ramp(2, run)).bind(dv::name<in<3>>, ramp(3, run));
        },
        [](auto& step, auto& ticket, int rank, int run) {
            const auto four_times = [&](int which) {
                const floats x = ramp(which, run);
                return each(x, x, [](float a, float b) { return 2 * a + 2 * b; });
            };
            ray::expect<actor<1>, out<3>>(step, ticket, rank, run, four_times(3));
            ray::expect<actor<1>, out<2>>(step, ticket, rank, run, four_times(2));
            ray::expect<actor<1>, out<1>>(step, ticket, rank, run, four_times(1));
            ray::expect<actor<1>, out<0>>(step, ticket, rank, run, four_times(0));
        });
}
template <class O, int Ahead>
void edge_values() {
    ray::run<edge_of_one_actor<slowly_doubled, row>, O, Ahead>(
        2, 6, [](auto& step, int run) { step.bind(dv::name<in<0>>, ramp(0, run)).bind(dv::name<in<1>>, ramp(1, run)); },
        [](auto& step, auto& ticket, int rank, int run) {
            const floats a = ramp(0, run), b = ramp(1, run);
            ray::expect<actor<0>, out<0>>(step, ticket, rank, run, each(a, b, [](float x, float y) { return 4 * x + 2 * y; }));
            ray::expect<actor<1>, out<1>>(step, ticket, rank, run, each(a, b, [](float x, float y) { return 2 * x - 2 * y; }));
        });
}
using several_copied = samples::several_copied;

}  // namespace

TEST_CASE("test_torch_tensor_nccl_overlap_timed[False]") { receives_three<sequential>(); }
TEST_CASE("test_torch_tensor_nccl_overlap_timed[True]") { receives_three<overlapped>(); }

TEST_CASE("test_torch_tensor_nccl[False]") { sends_of_three_sizes<sequential>(); }
TEST_CASE("test_torch_tensor_nccl[True]") { sends_of_three_sizes<overlapped>(); }

TEST_CASE("several sends and several runs in flight, with overlap") {
    many_values<overlapped, 1>();
    many_values<several, 3>();
    many_values<several_copied, 3>();
}

TEST_CASE("an edge between two tasks of one actor, with overlap") {
    edge_values<overlapped, 1>();
    edge_values<several, 3>();
    edge_values<several_copied, 3>();
}
