// The graphs that users write first, on the host backend: every candidate plan computes the values of the sequential program.
#include "support/on_host.hpp"

#include <algorithm>
#include <array>
#include <atomic>

using namespace samples;
using support::expect;
using floats = std::vector<float>;

namespace {

// The input of a run: 1 + run, 2 + run, ..., different on every position.
floats ramp(int position, int run, int n = 8) {
    floats v;
    for (int i = 0; i < n; ++i) v.push_back(static_cast<float>(1 + i + run + 10 * position));
    return v;
}

template <class F>
floats each(const floats& v, F f) {
    floats r;
    for (float x : v) r.push_back(f(x));
    return r;
}

// Twice as much with every run.
struct doubling : dv::graph<dv::input<x, number>, dv::state<count, number, constant<1>>, dv::update<count, add(count, count)>,
                            dv::let<y, add(count, x)>, dv::output<y>> {};

// Works in place on a value whose new content nobody wants, beside a result that is.
struct spend {
    static constexpr bool in_place_only = true;
    static constexpr dv::results result(dv::tensor_type t) { return {t, t}; }
    template <class X>
    static void launch(dv::host::stream, dv::inout<X> from, dv::out<X> to) {
        std::copy(from.begin(), from.end(), to.begin());
        std::fill(from.begin(), from.end(), 0.0f);
    }
};
// Without and with something to work in place of.
struct raise {
    static constexpr bool in_place_only = true;
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::inout<X> at) {
        for (float& v : at) v += 1;
    }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> to) {
        for (int i = 0; i < X::size; ++i) to[i] = from[i] + 1;
    }
};
template <bool First>
struct raised : dv::graph<dv::input<x, vector>, dv::state<count, vector, constant<5>>, dv::when<First, dv::update<count, raise(x)>>,
                          dv::let<a, add(x, x)>, dv::let<b, raise(a)>, dv::when<!First, dv::update<count, raise(x)>>,
                          dv::let<y, copy(count)>, dv::output<b, y>> {};
// g++ spells the types of both lambdas alike.
using plus_one = map<decltype([](float v) { return v + 1; })>;
using doubled = map<decltype([](float v) { return v * 2; })>;
struct lambdas : dv::graph<dv::input<x, vector>, dv::let<a, plus_one(x)>, dv::let<y, doubled(x)>, dv::output<a, y>> {};
struct spending : dv::graph<dv::input<x, vector>, dv::let<a, add(x, x)>, dv::let<dv::values<dv::discard, b>, spend(a)>,
                            dv::let<c, add(x, x)>, dv::let<y, add(b, c)>, dv::output<y>> {};
static_assert(dv::peak_bytes<spending, dv::unnamed_role, sequential> == 2 * 256);

// Has an effect, and results that nobody wants.
struct tally {
    static inline std::atomic<int> seen = 0;
    static constexpr bool has_effect = true;
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> to) {
        seen += static_cast<int>(from[0]);
        std::copy(from.begin(), from.end(), to.begin());
    }
};
struct tallied : dv::graph<dv::input<x, vector>, dv::let<dv::values<dv::discard>, tally(x)>> {};

// Two steps of a server, each by one role of the world: one rank decodes, three prefill.
struct prefill;
struct decode;
struct prefill_step : dv::graph<
    dv::roles<decode, prefill>,
    dv::input<x, vector>,
    dv::on<prefill, dv::mesh<dv::axis<dp, 3>>, dv::let<a, all_reduce<sum, dp>(x)>>,
    dv::output<a>> {};
struct decode_step : dv::graph<
    dv::roles<decode, prefill>,
    dv::input<y, vector>,
    dv::on<decode, dv::let<b, multiply(y, y)>>,
    dv::on<prefill, dv::mesh<dv::axis<dp, 3>>>,
    dv::output<b>> {};
static_assert(dv::peak_bytes<decode_step, prefill> == 0 && dv::wait_count<decode_step, prefill> == 0);

// As many results as an operation may have, one of which nobody wants.
template <int> struct multiple;
struct multiples {
    static constexpr dv::results result(dv::tensor_type t) { return {t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t}; }
    template <class X, class... Y>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<Y>... to) {
        static_assert(sizeof...(Y) == dv::max_results);
        float factor = 0;
        ((++factor, std::transform(from.begin(), from.end(), to.begin(), [&](float v) { return factor * v; })), ...);
    }
};
template <int... I>
struct tabulated : dv::graph<dv::input<x, vector>, dv::let<dv::values<multiple<I>..., dv::discard>, multiples(x)>,
                             dv::output<multiple<I>...>> {};

// Six ranks, two by three; the last axis fastest: rank 4 is index 1 of dp and 1 of tp.
using dozen = dv::tensor<float, 12>;
struct all_axes : dv::graph<
    dv::mesh<dv::axis<dp, 2>, dv::axis<tp, 3>>,
    dv::input<x, dozen>,
    dv::let<a, all_reduce<sum>(x)>,
    dv::let<b, all_gather<>(x)>,
    dv::let<c, reduce_scatter<maximum>(x)>,
    dv::let<d, all_to_all<>(x)>,
    dv::let<e, broadcast<root_index<4>>(x)>,
    dv::output<a, b, c, d, e>> {};
struct rooted_on_two_axes : dv::graph<
    dv::mesh<dv::axis<dp, 2>, dv::axis<tp, 3>>,
    dv::input<x, dozen>,
    dv::let<a, reduce<sum, dp, tp, root_index<4>>(x)>,
    dv::let<b, gather<tp, dp, root_index<2>>(x)>,
    dv::let<c, scatter<root_index<5>>(x)>,
    dv::let<d, broadcast<dp, tp, root_index<4>>(reduce<maximum, dp, tp, root_index<4>>(x))>,
    dv::output<a, b, c, d>> {};

// The indices along two axes, the second first.
struct pair_of {
    static constexpr dv::tensor_type result(dv::tensor_type i, dv::tensor_type) { return i.with_extents(2); }
    template <class I, class X>
    static void launch(dv::host::stream, dv::in<I> i, dv::in<I> j, dv::out<X> to) {
        to[0] = i[0];
        to[1] = j[0];
    }
};
struct two_indices : dv::graph<
    dv::mesh<dv::axis<dp, 2>, dv::axis<tp, 3>>,
    dv::let<a, pair_of(dv::axis_index<tp>, dv::axis_index<dp>)>,
    dv::let<b, pair_of(dv::axis_index<dp>, dv::axis_index<tp>)>,
    dv::output<a, b>> {};

// One operation on vectors and a number, of float, double and int32.
struct several_types : dv::graph<
    dv::input<x, vector>,
    dv::input<y, number>,
    dv::input<e, dv::tensor<double, 2, 2>>,
    dv::input<f, dv::tensor<std::int32_t, 3>>,
    dv::let<a, add(copy(x), copy(x))>,
    dv::let<b, add(copy(y), copy(y))>,
    dv::let<c, add(copy(e), copy(e))>,
    dv::let<d, copy(f)>,
    dv::output<a, b, c, d>> {};

constexpr auto bind_x = [](auto& step, int, int run) { step.bind(dv::name<x>, ramp(0, run)); };

// Reads a name on the rank that has it, once on its role's rank and again on the rank that plays all roles.
#define CHECK_OUTPUT(role, output, formula) \
    if (step.is(dv::name<role>))            \
    expect(ticket.read(dv::name<output>).host(), each(ramp(0, run), [](float v) { return (formula); }), #output, rank, run)

}  // namespace

TEST_CASE("two roles that send to each other") {
    const auto check = [](auto& step, auto& ticket, int rank, int run) {
        CHECK_OUTPUT(left, c, 2 * v + v * v);
        CHECK_OUTPUT(right, d, 2 * v - v * v);
    };
    support::run_all_ways<crossing_pair>(2, bind_x, check);
    support::run_single_rank<crossing_pair>(1, bind_x, check);
}

TEST_CASE("ping-pong") {
    const auto check = [](auto& step, auto& ticket, int rank, int run) { CHECK_OUTPUT(right, d, 3 * v * v + 2 * v); };
    support::run_all_ways<ping_pong>(2, bind_x, check);
    support::run_single_rank<ping_pong>(1, bind_x, check);
}

TEST_CASE("a ring of three") {
    const auto check = [](auto& step, auto& ticket, int rank, int run) { CHECK_OUTPUT(left, d, 5 * v); };
    support::run_all_ways<ring_of_three>(3, bind_x, check);
    support::run_single_rank<ring_of_three>(1, bind_x, check);
}

TEST_CASE("one to two others and back") {
    const auto check = [](auto& step, auto& ticket, int rank, int run) { CHECK_OUTPUT(left, d, 2 * v * v + v); };
    support::run_all_ways<there_and_back>(3, bind_x, check);
    support::run_single_rank<there_and_back>(1, bind_x, check);
}

TEST_CASE("a value read twice by a role, by two roles, by a role and the caller, sent and used at home") {
    const auto check = [](auto& step, auto& ticket, int rank, int run) {
        CHECK_OUTPUT(left, a, 2 * v);
        CHECK_OUTPUT(left, b, 4 * v * v);
        CHECK_OUTPUT(right, c, 2 * v + 4 * v * v);
        CHECK_OUTPUT(middle, e, 4 * v - 4 * v * v);
    };
    support::run_all_ways<read_twice>(3, bind_x, check);
    support::run_single_rank<read_twice>(1, bind_x, check);
}

TEST_CASE("a channel beside a collective, in either order of declaration") {
    const auto check = [](auto& step, auto& ticket, int rank, int run) {
        CHECK_OUTPUT(right, c, 2 * v);
        CHECK_OUTPUT(left, d, 4 * v + 2 * v * v);
    };
    support::run_all_ways<channel_first>(2, bind_x, check);
    support::run_all_ways<collective_first>(2, bind_x, check);
    support::run_single_rank<channel_first>(1, bind_x, check);
    support::run_single_rank<collective_first>(1, bind_x, check);
}

TEST_CASE("collectives on overlapping sets of roles") {
    const auto check = [](auto& step, auto& ticket, int rank, int run) {
        CHECK_OUTPUT(left, stage<0>, 2 * v + v * v + 0);       // the sum of left and middle, and the least of the three
        CHECK_OUTPUT(middle, stage<1>, 2 * v + 2 * v * v);     // ... and the greatest of middle and right
        CHECK_OUTPUT(right, stage<2>, v * v + 0);
    };
    support::run_all_ways<overlapping_collectives>(3, bind_x, check);
    support::run_single_rank<overlapping_collectives>(1, bind_x, check);
}

TEST_CASE("a value of two collectives") {
    const auto check = [](auto& step, auto& ticket, int rank, int run) {
        CHECK_OUTPUT(left, a, 2 * v);
        CHECK_OUTPUT(left, stage<0>, 4 * v + v * v);
        CHECK_OUTPUT(right, stage<1>, v * v);
    };
    support::run_all_ways<taken_twice>(2, bind_x, check);
    support::run_single_rank<taken_twice>(1, bind_x, check);
}

TEST_CASE("a micro-batched pipeline") {
    const auto bind_micro = []<int... M>(std::integer_sequence<int, M...>) {
        return [](auto& step, int, int run) {
            step.bind(dv::name<bias_of_stage>, floats(8, 1.0f));
            (step.bind(dv::name<hop<0, M>>, ramp(M, run)), ...);
        };
    };
    const auto check_two = [](auto& step, auto& ticket, int rank, int run) {
        if (!step.is(dv::name<stage<1>>)) return;
        expect(ticket.read(dv::name<hop<2, 0>>).host(), each(ramp(0, run), [](float v) { return v + 2; }), "micro-batch 0", rank, run);
        expect(ticket.read(dv::name<hop<2, 1>>).host(), each(ramp(1, run), [](float v) { return v + 2; }), "micro-batch 1", rank, run);
    };
    support::run_all_ways<pipeline<2, 2>>(2, bind_micro(std::make_integer_sequence<int, 2>{}), check_two);
    support::run_single_rank<pipeline<2, 2>>(1, bind_micro(std::make_integer_sequence<int, 2>{}), check_two);
    const auto check_four = [](auto& step, auto& ticket, int rank, int run) {
        if (!step.is(dv::name<stage<3>>)) return;
        expect(ticket.read(dv::name<hop<4, 5>>).host(), each(ramp(5, run), [](float v) { return v + 4; }), "micro-batch 5", rank, run);
        expect(ticket.read(dv::name<hop<4, 0>>).host(), each(ramp(0, run), [](float v) { return v + 4; }), "micro-batch 0", rank, run);
    };
    support::run_all_ways<pipeline<4, 6>>(4, bind_micro(std::make_integer_sequence<int, 6>{}), check_four);
}

TEST_CASE("a counter counts the runs") {
    const auto bind_one = [](auto& step, int, int) { step.bind(dv::name<x>, 1.0f); };
    const auto check = [](auto& step, auto& ticket, int rank, int run) {
        expect(ticket.read(dv::name<y>).host(), floats{static_cast<float>(run + 1)}, "y", rank, run);
        expect(step.read_state(dv::name<count>), floats{static_cast<float>(run + 1)}, "count", rank, run);
    };
    support::run_all_ways<counter>(1, bind_one, check, 5);
}

TEST_CASE("a state that is both arguments of its update") {
    const auto bind_one = [](auto& step, int, int) { step.bind(dv::name<x>, 1.0f); };
    const auto check = [](auto& step, auto& ticket, int rank, int run) {
        expect(ticket.read(dv::name<y>).host(), floats{static_cast<float>((2 << run) + 1)}, "y", rank, run);
        expect(step.read_state(dv::name<count>), floats{static_cast<float>(2 << run)}, "count", rank, run);
    };
    support::run_all_ways<doubling>(1, bind_one, check, 5);
}

TEST_CASE("all_reduce, reduce and broadcast, reduce_scatter and all_gather give the same sums") {
    const auto bind_rank = [](auto& step, int rank, int run) { step.bind(dv::name<x>, ramp(rank, run)); };
    const auto check = [](auto&, auto& ticket, int rank, int run) {
        const floats wanted = each(ramp(0, run), [](float v) { return 4 * v + 60; });
        expect(ticket.read(dv::name<a>).host(), wanted, "all_reduce", rank, run);
        expect(ticket.read(dv::name<b>).host(), wanted, "reduce, broadcast", rank, run);
        expect(ticket.read(dv::name<c>).host(), wanted, "reduce_scatter, all_gather", rank, run);
    };
    support::run_all_ways<sums>(4, bind_rank, check);
}

TEST_CASE("every communication along an axis") {
    const auto bind_rank = [](auto& step, int rank, int run) { step.bind(dv::name<x>, ramp(rank, run)); };
    const auto check = [](auto&, auto& ticket, int rank, int run) {
        const floats zero = ramp(0, run), one = ramp(1, run);
        floats both = zero;
        both.insert(both.end(), one.begin(), one.end());
        expect(ticket.read(dv::name<a>).host(), both, "all_gather", rank, run);
        expect(ticket.read(dv::name<b>).host(), rank == 0 ? floats(one.begin(), one.begin() + 4) : floats(one.begin() + 4, one.end()),
               "reduce_scatter", rank, run);
        if (rank == 1) expect(ticket.read(dv::name<f>).host(), both, "gather", rank, run);
        else
            support::expect_refused([&] { static_cast<void>(ticket.read(dv::name<f>)); },
                                    "output `f` is on the root of its gather only, and not on rank 0");
        expect(ticket.read(dv::name<y>).host(), rank == 0 ? floats(zero.begin(), zero.begin() + 4) : floats(zero.begin() + 4, zero.end()),
               "scatter", rank, run);
        const floats kept = rank == 0 ? floats(zero.begin(), zero.begin() + 4) : floats(one.begin() + 4, one.end());
        expect(ticket.read(dv::name<own>).host(), kept, "own_rows", rank, run);
        // all_to_all takes this position's half of both; the shift by one wraps, the open one leaves zeros at the edge
        floats wanted;
        for (int i = 0; i < 8; ++i) {
            const int half = 4 * rank + i % 4;
            const float exchanged = i < 4 ? zero[static_cast<std::size_t>(half)] : one[static_cast<std::size_t>(half)];
            const float wrapped = rank == 0 ? one[static_cast<std::size_t>(i)] : zero[static_cast<std::size_t>(i)];
            const float opened = rank == 0 ? one[static_cast<std::size_t>(i)] : 0.0f;
            wanted.push_back(exchanged + wrapped + opened);
        }
        expect(ticket.read(dv::name<total>).host(), wanted, "all_to_all and shifts", rank, run);
    };
    support::run_all_ways<along_an_axis>(2, bind_rank, check);
    support::run_with<along_an_axis, bucketed>(2, bind_rank, check, 1);
}

TEST_CASE("from position to position, with zeros where nothing comes from") {
    const auto bind_rank = [](auto& step, int rank, int run) { step.bind(dv::name<x>, ramp(rank, run)); };
    const auto check = [](auto&, auto& ticket, int rank, int run) {
        const floats none(8, 0.0f);
        const auto some = [&](int position, int in) { return position == 1 ? ramp(2, in) : position == 2 ? ramp(0, in) : none; };
        const auto all = [&](int position, int in) { return ramp(std::array{2, 1, 3, 0}[static_cast<std::size_t>(position)], in); };
        expect(ticket.read(dv::name<a>).host(), some(rank, run), "some positions", rank, run);
        expect(ticket.read(dv::name<b>).host(), all(rank, run), "all positions", rank, run);
        // In each run both are added; then positions 0 and 1 change places, 2 loses what it has, and 3 keeps it.
        std::vector<floats> held(4, none);
        for (int k = 0; k <= run; ++k) {
            for (int position = 0; position < 4; ++position)
                for (std::size_t i = 0; i < 8; ++i)
                    held[static_cast<std::size_t>(position)][i] += some(position, k)[i] + all(position, k)[i];
            std::swap(held[0], held[1]);
            held[2] = none;
        }
        expect(ticket.read(dv::name<y>).host(), held[static_cast<std::size_t>(rank)], "a state", rank, run);
    };
    support::run_all_ways<permuted>(4, bind_rank, check);
}

// Rows [from, from + count) of a tensor of 64 columns, and two of them together.
floats rows_from(const floats& v, int from, int count) { return floats(v.begin() + 64 * from, v.begin() + 64 * (from + count)); }
template <class F>
floats both(const floats& u, const floats& v, F f) {
    floats r;
    for (std::size_t i = 0; i < u.size(); ++i) r.push_back(f(u[i], v[i]));
    return r;
}
floats behind(floats u, const floats& v) {
    u.insert(u.end(), v.begin(), v.end());
    return u;
}
// What is negative here and there.
floats waves(int position, int run) {
    floats v;
    for (int i = 0; i < 512; ++i) v.push_back(static_cast<float>((i * 7 + 3 * run + 5 * position) % 23 - 11));
    return v;
}

TEST_CASE("a weight in shards, gathered once for two readers and again behind its update") {
    const auto plus = [](float u, float v) { return u + v; };
    const auto times = [](float u, float v) { return u * v; };
    const auto check = [&](auto&, auto& ticket, int rank, int run) {
        floats weight(8, 1.0f), mine;
        for (int k = 0; k <= run; ++k) {
            mine = both(weight, ramp(rank, k), times);
            const floats all = both(both(weight, ramp(0, k), times), both(weight, ramp(1, k), times), plus);
            weight = both(weight, both(all, both(weight, weight, plus), plus), plus);
        }
        expect(ticket.read(dv::name<b>).host(), mine, "with the weight before the update", rank, run);
        expect(ticket.read(dv::name<y>).host(), weight, "the weight behind it", rank, run);
    };
    support::run_all_ways<samples::shards_kept>(2, [](auto& step, int rank, int run) { step.bind(dv::name<x>, ramp(rank, run)); }, check);
}

TEST_CASE("rows of values, and values made of parts") {
    const auto plus = [](float u, float v) { return u + v; };
    const auto positive = [](float u) { return u > 0 ? u : 0.0f; };
    const auto check = [&](auto&, auto& ticket, int rank, int run) {
        floats weight(512, 1.0f), y;
        for (int k = 0; k <= run; ++k) {
            const floats sum = both(waves(0, k), waves(1, k), plus), twice = both(weight, weight, plus);
            y = behind(both(rows_from(sum, 0, 4), rows_from(twice, 4, 4), plus), both(rows_from(sum, 4, 4), rows_from(twice, 0, 4), plus));
            weight = both(weight, y, plus);
        }
        const floats a = each(y, positive);
        expect(ticket.read(dv::name<samples::a>).host(), a, "all of it", rank, run);
        expect(ticket.read(dv::name<b>).host(), both(rows_from(y, 2, 2), rows_from(weight, 6, 2), plus), "two blocks", rank, run);
        const floats half = rows_from(a, 2 * rank, 2);
        expect(ticket.read(dv::name<c>).host(), both(half, half, plus), "a collective of rows", rank, run);
    };
    support::run_all_ways<in_blocks>(2, [](auto& step, int rank, int run) { step.bind(dv::name<x>, waves(rank, run)); }, check);
}

TEST_CASE("rows of values between roles") {
    const auto check = [](auto& step, auto& ticket, int rank, int run) {
        const floats x = waves(0, run), a = each(x, [](float u) { return u > 0 ? u : 0.0f; });
        const floats b = both(rows_from(a, 0, 4), rows_from(x, 4, 4), [](float u, float v) { return u + v; });
        const floats c = both(rows_from(a, 0, 4), b, [](float u, float v) { return u * v; });
        const floats e = each(behind(b, c), [](float u) { return u > 0 ? u : 0.0f; });
        const floats total = both(rows_from(a, 4, 4), rows_from(e, 0, 4), [](float u, float v) { return u + v; });
        const auto minus = [](float u, float v) { return u - v; };
        if (step.is(dv::name<left>)) {
            expect(ticket.read(dv::name<d>).host(), each(rows_from(b, 2, 2), [](float u) { return u + u; }),
                   "rows of what is made elsewhere", rank, run);
            expect(ticket.read(dv::name<stage<0>>).host(), both(total, rows_from(a, 0, 4), minus), "a collective of rows over roles", rank,
                   run);
        }
        if (step.is(dv::name<right>)) {
            expect(ticket.read(dv::name<samples::e>).host(), e, "all of it", rank, run);
            expect(ticket.read(dv::name<stage<1>>).host(), both(total, rows_from(e, 4, 4), minus), "a collective of rows over roles", rank,
                   run);
        }
    };
    const auto bind = [](auto& step, int, int run) { step.bind(dv::name<x>, waves(0, run)); };
    support::run_all_ways<blocks_across>(2, bind, check);
    support::run_with<blocks_across, copied>(2, bind, check, 3);
    support::run_with<blocks_across, several_copied>(2, bind, check, 3);
    support::run_single_rank<blocks_across>(1, bind, check);
}
// The only copies are those of channels, of rows alone, and of inputs: what is made of parts takes no more room than they do.
static_assert(dv::peak_bytes<blocks_across, left, sequential> <= 2048 + 512 + 1024 + 1024 + 1024 + 512);

TEST_CASE("roles with positions, and all of it on one role's positions") {
    const auto check_on = [](int positions, bool single_rank) {
        return [positions, single_rank](auto& step, auto& ticket, int rank, int run) {
            const int position = single_rank ? rank : rank % positions;
            if (!step.is(dv::name<right>)) return;
            const auto c_of = [&](int l) {
                floats r;
                for (int i = 0; i < 8; ++i) {
                    float sum = 0;
                    for (int k = 0; k < positions; ++k) sum += 2 * ramp(k, run)[static_cast<std::size_t>(i)];
                    r.push_back(2 * ramp(l, run)[static_cast<std::size_t>(i)] + sum);
                }
                return r;
            };
            expect(ticket.read(dv::name<c>).host(), c_of(position), "c", rank, run);
            expect(ticket.read(dv::name<d>).host(), c_of(positions - 1), "d", rank, run);
        };
    };
    for (int positions : {1, 2, 3}) {
        const auto bind_rank = [positions](auto& step, int rank, int run) { step.bind(dv::name<x>, ramp(rank % positions, run)); };
        support::run_all_ways<roles_and_meshes>(2 * positions, bind_rank, check_on(positions, false));
        support::run_single_rank<roles_and_meshes>(positions, bind_rank, check_on(positions, true));
    }
}

TEST_CASE("weights that all positions agree on") {
    for (int positions : {1, 2, 4}) {
        const auto bind_rank = [](auto& step, int rank, int run) {
            step.bind(dv::name<x>, ramp(rank, run));
            step.bind(dv::name<rate>, 0.015625f);
        };
        floats weights(8, 1.0f), speeds(8, 0.0f);
        std::vector<floats> wanted;
        for (int run = 0; run < 3; ++run) {
            for (int i = 0; i < 8; ++i) {
                const auto at = static_cast<std::size_t>(i);
                float gradient = 0;
                for (int l = 0; l < positions; ++l) gradient += weights[at] * ramp(l, run)[at];
                speeds[at] = 0.5f * speeds[at] + gradient / static_cast<float>(positions);
                weights[at] -= 0.015625f * speeds[at];
            }
            wanted.push_back(weights);
        }
        const auto check = [&](auto&, auto& ticket, int rank, int run) {
            const floats got = ticket.read(dv::name<y>).host();
            const std::lock_guard lock{support::report()};
            CAPTURE(rank);
            for (std::size_t i = 0; i < 8; ++i) CHECK(got[i] == doctest::Approx(wanted[static_cast<std::size_t>(run)][i]));
        };
        support::run_all_ways<descent>(positions, bind_rank, check);
    }
}

TEST_CASE("host memory on the way in and out") {
    const auto bind_both = [](auto& step, int, int run) {
        step.bind(dv::name<x>, ramp(0, run));
        step.bind(dv::name<b>, ramp(1, run));
    };
    const auto check = [](auto&, auto& ticket, int rank, int run) {
        expect(ticket.read(dv::name<y>).host(), each(ramp(0, run), [](float v) { return 2 * v + 10; }), "y", rank, run);
        expect(ticket.read(dv::name<c>).host(), each(ramp(0, run), [](float v) { return 4 * v + 20; }), "c", rank, run);
    };
    support::run_all_ways<through_host>(1, bind_both, check);
}

TEST_CASE("an operation in place, of whose results the first is not wanted") {
    support::run_all_ways<spending>(1, bind_x, [](auto&, auto& ticket, int rank, int run) {
        expect(ticket.read(dv::name<y>).host(), each(ramp(0, run), [](float v) { return 4 * v; }), "y", rank, run);
    });
}

TEST_CASE("operations that are called differently, or only spelled alike, share no call") {
    const auto bind_tens = [](auto& step, int, int) { step.bind(dv::name<x>, floats(8, 10.0f)); };
    const auto check_raised = [](auto&, auto& ticket, int rank, int run) {
        expect(ticket.read(dv::name<b>).host(), floats(8, 21.0f), "b", rank, run);
        expect(ticket.read(dv::name<y>).host(), floats(8, 11.0f), "y", rank, run);
    };
    support::run_all_ways<raised<false>>(1, bind_tens, check_raised, 2);
    support::run_all_ways<raised<true>>(1, bind_tens, check_raised, 2);
#if !defined(__SANITIZE_ADDRESS__)  // with -fsanitize=undefined, g++ does not compare the operations while compiling
    support::run_all_ways<lambdas>(
        1, bind_tens,
        [](auto&, auto& ticket, int rank, int run) {
            expect(ticket.read(dv::name<a>).host(), floats(8, 11.0f), "a", rank, run);
            expect(ticket.read(dv::name<y>).host(), floats(8, 20.0f), "y", rank, run);
        },
        2);
#endif
}

TEST_CASE("order without data changes no value") {
    const auto check = [](auto& step, auto& ticket, int rank, int run) {
        floats sum_of_inputs(8);  // what the state is before its second update in this run
        for (int k = 0; k <= run; ++k) {
            const floats bound = ramp(0, k);
            for (std::size_t i = 0; i < 8; ++i) sum_of_inputs[i] = (sum_of_inputs[i] + bound[i]) * bound[i];
        }
        CHECK_OUTPUT(left, f, -v);
        CHECK_OUTPUT(left, total, v * v);
        if (step.is(dv::name<right>)) expect(ticket.read(dv::name<e>).host(), sum_of_inputs, "e", rank, run);
    };
    support::run_all_ways<ordered>(2, bind_x, check);
    support::run_with<ordered, copied>(2, bind_x, check, 3);
    support::run_single_rank<ordered>(1, bind_x, check);
    const auto bind_rank = [](auto& step, int rank, int run) { step.bind(dv::name<x>, ramp(rank, run)); };
    support::run_all_ways<in_turn>(2, bind_rank, [](auto&, auto& ticket, int rank, int run) {
        const auto read = [&](auto name) { return ticket.read(name).host(); };
        expect(read(dv::name<a>), each(ramp(0, run), [](float v) { return 2 * v + 10; }), "a", rank, run);
        expect(read(dv::name<c>), each(ramp(0, run), [](float v) { return 2 * v + 10; }), "c", rank, run);
        expect(read(dv::name<e>), each(ramp(0, run), [](float v) { return v + 5; }), "e", rank, run);
        expect(read(dv::name<y>), ramp(1 - rank, run), "y", rank, run);
    });
}

TEST_CASE("two graphs use a role each of one world, and run in turn") {
    dv::host::world world{4};
    world.run([](auto& rank) {
        const bool prefills = rank.index() > 0;
        dv::executor<prefill_step> first{rank, std::chrono::seconds{60}};
        dv::executor<decode_step> second{rank, std::chrono::seconds{60}};
        expect(floats{rank.is(dv::name<prefill>) ? 1.0f : 0.0f}, floats{prefills ? 1.0f : 0.0f}, "prefill", rank.index(), 0);
        expect(floats{rank.is(dv::name<decode>) ? 1.0f : 0.0f}, floats{prefills ? 0.0f : 1.0f}, "decode", rank.index(), 0);
        for (int run = 0; run < 3; ++run) {
            first.bind(dv::name<x>, ramp(rank.index(), run));
            const auto filled = first.run();
            second.bind(dv::name<y>, ramp(rank.index(), run));
            const auto decoded = second.run();
            filled.wait();
            decoded.wait();
            if (prefills)
                expect(filled.read(dv::name<a>).host(), each(ramp(2, run), [](float v) { return 3 * v; }), "a", rank.index(), run);
            else
                expect(decoded.read(dv::name<b>).host(), each(ramp(0, run), [](float v) { return v * v; }), "b", rank.index(), run);
        }
    });
}

TEST_CASE("ranks are numbered by the listed roles, of which one is idle") {
    const auto bind_rank = [](auto& step, int rank, int run) { step.bind(dv::name<x>, ramp(rank, run)); };
    const auto check = [](auto& step, auto& ticket, int rank, int run) {
        if (!step.is(dv::name<right>)) return;
        const float more = 90.0f - 20.0f * static_cast<float>(rank);  // right is ranks 0 and 1, left 4 and 5
        expect(ticket.read(dv::name<b>).host(), each(ramp(rank, run), [&](float v) { return 3 * v + more; }), "b", rank, run);
    };
    support::run_all_ways<idle_between>(6, bind_rank, check);
    support::run_with<idle_between, copied>(6, bind_rank, check, 3);
}

TEST_CASE("one role computes beside its communication, the other one has one stream") {
    const auto bind_rank = [](auto& step, int rank, int run) { step.bind(dv::name<x>, ramp(rank, run)); };
    const auto check = [](auto& step, auto& ticket, int rank, int run) {
        const std::vector<float> own = ramp(rank, run), other = ramp(rank ^ 1, run);
        std::vector<float> expected(own.size());
        const bool overlaps = step.is(dv::name<left>);
        for (std::size_t i = 0; i < own.size(); ++i)
            expected[i] = overlaps ? own[i] + other[i] + 2 * own[i] * own[i] : std::max({own[i], other[i], 0.0f}) - own[i];
        if (overlaps)
            expect(ticket.read(dv::name<c>).host(), expected, "c", rank, run);
        else
            expect(ticket.read(dv::name<f>).host(), expected, "f", rank, run);
    };
    support::run_all_ways<one_role_overlaps>(4, bind_rank, check);
    support::run_with<one_role_overlaps, several>(4, bind_rank, check, 5);
}

TEST_CASE("sixteen results of one operation") {
    [&]<int... I>(std::integer_sequence<int, I...>) {
        const auto check = [](auto&, auto& ticket, int rank, int run) {
            const auto times = [&](int factor) { return each(ramp(0, run), [&](float v) { return static_cast<float>(factor) * v; }); };
            (expect(ticket.read(dv::name<multiple<I>>).host(), times(I + 1), "multiple", rank, run), ...);
        };
        support::run_all_ways<tabulated<I...>>(1, bind_x, check);
    }(std::make_integer_sequence<int, dv::max_results - 1>{});
}

TEST_CASE("two reductions in one group") {
    const auto bind_rank = [](auto& step, int rank, int run) { step.bind(dv::name<x>, ramp(rank, run)); };
    const auto check = [](auto&, auto& ticket, int rank, int run) {
        expect(ticket.read(dv::name<y>).host(), each(ramp(0, run), [](float v) { return 3 * v + 30 - 2 * (v + 20); }), "y", rank, run);
    };
    support::run_all_ways<one_group>(3, bind_rank, check);
}

TEST_CASE("no element, one element, an odd number of them") {
    const auto with = []<std::int64_t N>(std::integral_constant<std::int64_t, N>) {
        const auto bind_n = [](auto& step, int, int run) { step.bind(dv::name<x>, ramp(0, run, N)); };
        const auto check = [](auto& step, auto& ticket, int rank, int run) {
            if (step.is(dv::name<left>))
                expect(ticket.read(dv::name<d>).host(), each(ramp(0, run, N), [](float v) { return 7 * v; }), "d", rank, run);
        };
        support::run_all_ways<shaped<N>>(2, bind_n, check);
        support::run_single_rank<shaped<N>>(1, bind_n, check);
    };
    with(std::integral_constant<std::int64_t, 0>{});
    with(std::integral_constant<std::int64_t, 1>{});
    with(std::integral_constant<std::int64_t, 7>{});
    with(std::integral_constant<std::int64_t, 1023>{});
}

TEST_CASE("an operation with an effect, of whose results none has a name") {
    tally::seen = 0;
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<tallied> step{rank};
        for (int run = 0; run < 3; ++run) {
            bind_x(step, 0, run);
            step.run().wait();
        }
    });
    CHECK(tally::seen == 1 + 2 + 3);
}

TEST_CASE("collectives without axes are over both axes of the mesh, the last fastest") {
    const auto bind_rank = [](auto& step, int rank, int run) { step.bind(dv::name<x>, ramp(rank, run, 12)); };
    const auto check = [](auto&, auto& ticket, int rank, int run) {
        floats gathered, exchanged, largest;
        for (int r = 0; r < 6; ++r) {
            const floats of = ramp(r, run, 12);
            gathered.insert(gathered.end(), of.begin(), of.end());
            exchanged.insert(exchanged.end(), of.begin() + 2 * rank, of.begin() + 2 * rank + 2);
            if (r == 5) largest.assign(of.begin() + 2 * rank, of.begin() + 2 * rank + 2);
        }
        expect(ticket.read(dv::name<a>).host(), each(ramp(0, run, 12), [](float v) { return 6 * v + 150; }), "all_reduce", rank, run);
        expect(ticket.read(dv::name<b>).host(), gathered, "all_gather", rank, run);
        expect(ticket.read(dv::name<c>).host(), largest, "reduce_scatter", rank, run);
        expect(ticket.read(dv::name<d>).host(), exchanged, "all_to_all", rank, run);
        expect(ticket.read(dv::name<e>).host(), ramp(4, run, 12), "broadcast", rank, run);
    };
    support::run_all_ways<all_axes>(6, bind_rank, check);
}

TEST_CASE("a root over two axes is the index along both, the last fastest, however they are named") {
    const auto bind_rank = [](auto& step, int rank, int run) { step.bind(dv::name<x>, ramp(rank, run, 12)); };
    const auto check = [](auto&, auto& ticket, int rank, int run) {
        floats gathered;
        for (int r = 0; r < 6; ++r)
            for (const float v : ramp(r, run, 12)) gathered.push_back(v);
        const floats scattered = ramp(5, run, 12);
        const auto at = scattered.begin() + 2 * rank;
        if (rank == 4)
            expect(ticket.read(dv::name<a>).host(), each(ramp(0, run, 12), [](float v) { return 6 * v + 150; }), "reduce", rank, run);
        else support::expect_refused([&] { static_cast<void>(ticket.read(dv::name<a>)); }, "output `a` is on the root of its reduce only");
        if (rank == 2) expect(ticket.read(dv::name<b>).host(), gathered, "gather", rank, run);
        else support::expect_refused([&] { static_cast<void>(ticket.read(dv::name<b>)); }, "output `b` is on the root of its gather only");
        expect(ticket.read(dv::name<c>).host(), floats(at, at + 2), "scatter", rank, run);
        expect(ticket.read(dv::name<d>).host(), ramp(5, run, 12), "reduce, broadcast", rank, run);
    };
    support::run_all_ways<rooted_on_two_axes>(6, bind_rank, check);
}

TEST_CASE("the index along a second axis") {
    support::run_all_ways<two_indices>(6, [](auto&, int, int) {}, [](auto&, auto& ticket, int rank, int run) {
        expect(ticket.read(dv::name<a>).host(), std::vector<std::int32_t>{rank % 3, rank / 3}, "a", rank, run);
        expect(ticket.read(dv::name<b>).host(), std::vector<std::int32_t>{rank / 3, rank % 3}, "b", rank, run);
    });
}

TEST_CASE("one operation on several tensor types in a graph") {
    const auto bind_all = [](auto& step, int, int run) {
        step.bind(dv::name<x>, ramp(0, run));
        step.bind(dv::name<y>, static_cast<float>(run));
        step.bind(dv::name<e>, std::vector<double>{1.0 / 3, 2, 3, 4.0 + run});
        step.bind(dv::name<f>, std::vector<std::int32_t>{run, -1, 1 << 30});
    };
    support::run_all_ways<several_types>(1, bind_all, [](auto&, auto& ticket, int rank, int run) {
        expect(ticket.read(dv::name<a>).host(), each(ramp(0, run), [](float v) { return 2 * v; }), "a", rank, run);
        expect(ticket.read(dv::name<b>).host(), floats{2.0f * static_cast<float>(run)}, "b", rank, run);
        expect(ticket.read(dv::name<c>).host(), std::vector<double>{2.0 / 3, 4, 6, 8.0 + 2 * run}, "c", rank, run);
        expect(ticket.read(dv::name<d>).host(), std::vector<std::int32_t>{run, -1, 1 << 30}, "d", rank, run);
    });
}
