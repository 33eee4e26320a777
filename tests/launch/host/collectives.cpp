// The data movement of every communication on the host, for every element type, with and without results that overwrite their arguments;
// and the same between four ranks.
#include "../handmade.hpp"

#include <dovetail/launch/host/collectives.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace {
using namespace handmade;
using dv::op_kind;
using dv::reduction;
using dv::host::communication;
using dv::host::participant;

// double does not pass through float.
template <class T>
T narrowed(double x) {
    if constexpr (std::is_same_v<T, double>) return x;
    else return static_cast<T>(static_cast<float>(x));
}

// Values exact in every element type.
template <class T>
T value(int member, std::int64_t i) {
    return static_cast<T>(static_cast<float>((member * 3 + i) % 5 + 1));
}

template <class T>
struct members {
    int n;
    std::int64_t send, recv;
    std::vector<std::vector<T>> in, out;

    members(int count, std::int64_t s, std::int64_t r)
        : n{count}, send{s}, recv{r}, in(static_cast<std::size_t>(n)), out(static_cast<std::size_t>(n)) {
        for (int m = 0; m < n; ++m) {
            for (std::int64_t i = 0; i < send; ++i) in[m].push_back(value<T>(m, i));
            out[m].assign(static_cast<std::size_t>(recv), T(0.0f));
        }
    }
    // Runs it, and again with each result in the place of its argument where the sizes are equal.
    template <class F>
    void check(communication x, F expected) {
        x.type = dv::element_of<T>;
        for (const bool in_place : {false, true}) {
            if (in_place && send != recv) continue;
            auto a = in, b = out;
            std::vector<participant> participants;
            const auto size = static_cast<std::int64_t>(sizeof(T));
            for (int m = 0; m < n; ++m)
                participants.push_back({a[m].data(), in_place ? a[m].data() : b[m].data(), send * size, recv * size});
            std::vector<char> scratch;
            dv::host::move_data(x, participants, scratch);
            int wrong = 0;
            for (int m = 0; m < n; ++m)
                for (std::int64_t i = 0; i < recv; ++i) {
                    const auto want = expected(m, i);
                    if (want.known && static_cast<double>((in_place ? a : b)[m][i]) != static_cast<double>(want.value)) ++wrong;
                }
            CAPTURE(name_of(x.kind));
            CAPTURE(dv::name_of(x.type));
            CAPTURE(in_place);
            CHECK(wrong == 0);
        }
    }
};

template <class T>
struct want {
    T value = {};
    bool known = true;
};

template <class T>
double single_rank(reduction how, int n, std::int64_t i) {
    double sum = static_cast<double>(value<T>(0, i));
    for (int m = 1; m < n; ++m) {
        const double v = static_cast<double>(value<T>(m, i));
        if (how == reduction::sum || how == reduction::average) sum += v;
        if (how == reduction::product) sum *= v;
        if (how == reduction::minimum) sum = std::fmin(sum, v);
        if (how == reduction::maximum) sum = std::fmax(sum, v);
    }
    if (how != reduction::average) return sum;
    if (std::is_integral_v<T>) return std::floor(sum / n);
    if (std::is_same_v<T, double>) return sum / n;
    return static_cast<double>(static_cast<T>(static_cast<float>(sum) / static_cast<float>(n)));
}
}  // namespace

TEST_CASE_TEMPLATE("not a number in an extreme, on each member in turn", T, dv::half, dv::bfloat16, float, double) {
    const T none = std::numeric_limits<float>::quiet_NaN();
    for (int of = 0; of < 4; ++of)
        for (const reduction how : {reduction::minimum, reduction::maximum}) {
            std::vector<T> in = {T(3.0f), T(1.0f), T(2.0f), T(4.0f)}, out(4);
            in[of] = none;
            std::vector<participant> participants;
            for (int m = 0; m < 4; ++m) participants.push_back({&in[m], &out[m], sizeof(T), sizeof(T)});
            std::vector<char> scratch;
            dv::host::move_data({op_kind::all_reduce, dv::element_of<T>, how}, participants, scratch);
            const float wanted = how == reduction::minimum ? of == 1 ? 2.0f : 1.0f : of == 3 ? 3.0f : 4.0f;
            for (const T& x : out) CHECK(static_cast<float>(x) == wanted);
        }
}

TEST_CASE_TEMPLATE("every communication", T, dv::half, dv::bfloat16, float, double, std::int8_t, std::uint8_t, std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t) {
    for (const int n : {1, 2, 3, 4})
        for (const std::int64_t count : {0, 1, 7}) {
            const auto w = [](T v) { return want<T>{v, true}; };
            for (const reduction how : {reduction::sum, reduction::product, reduction::minimum, reduction::maximum, reduction::average}) {
                if (how == reduction::product && n > 2) continue;  // not exact in every type
                members<T>{n, count, count}.check({op_kind::all_reduce, {}, how},
                                                  [&](int, std::int64_t i) { return w(narrowed<T>(single_rank<T>(how, n, i))); });
                members<T>{n, count, count}.check({op_kind::reduce, {}, how, n - 1}, [&](int m, std::int64_t i) {
                    return want<T>{narrowed<T>(single_rank<T>(how, n, i)), m == n - 1};
                });
                members<T>{n, n * count, count}.check({op_kind::reduce_scatter, {}, how}, [&](int m, std::int64_t i) {
                    return w(narrowed<T>(single_rank<T>(how, n, m * count + i)));
                });
            }
            members<T>{n, count, count}.check({op_kind::broadcast, {}, {}, n - 1},
                                              [&](int, std::int64_t i) { return w(value<T>(n - 1, i)); });
            members<T>{n, count, n * count}.check({op_kind::all_gather},
                                                  [&](int, std::int64_t i) { return w(value<T>(static_cast<int>(i / count), i % count)); });
            members<T>{n, count, n * count}.check({op_kind::gather, {}, {}, 0}, [&](int m, std::int64_t i) {
                return want<T>{value<T>(static_cast<int>(i / count), i % count), m == 0};
            });
            members<T>{n, n * count, count}.check({op_kind::scatter, {}, {}, 0},
                                                  [&](int m, std::int64_t i) { return w(value<T>(0, m * count + i)); });
            members<T>{n, n * count, count}.check({op_kind::own_rows},
                                                  [&](int m, std::int64_t i) { return w(value<T>(m, m * count + i)); });
            members<T>{n, n * count, n * count}.check({op_kind::all_to_all}, [&](int m, std::int64_t i) {
                return w(value<T>(static_cast<int>(i / count), m * count + i % count));
            });
            for (const int offset : {1, -1, 2})
                for (const bool open : {false, true})
                    members<T>{n, count, count}.check({op_kind::shift, {}, {}, -1, offset, open}, [&](int m, std::int64_t i) {
                        const int from = m - offset;
                        if (open && (from < 0 || from >= n)) return w(T(0.0f));
                        return w(value<T>(((from % n) + n) % n, i));
                    });
            {
                const dv::position_pair pairs[] = {{n - 1, 0}, {0, n / 2}};  // of three and more: some get nothing
                dv::operation op;
                op.pairs = pairs;
                op.pair_count = n > 1 ? 2 : 1;
                communication x{op_kind::permute};
                x.op = &op;
                members<T>{n, count, count}.check(x, [&](int m, std::int64_t i) {
                    return w(m == 0 ? value<T>(n - 1, i) : m == n / 2 ? value<T>(0, i) : T(0.0f));
                });
            }
            if (n == 2)
                members<T>{n, count, count}.check({op_kind::transfer},
                                                  [&](int m, std::int64_t i) { return want<T>{value<T>(0, i), m == 1}; });
        }
}

TEST_CASE("half is summed in float and rounded once, integers wrap") {
    std::vector<dv::half> a{dv::half{2048.0f}}, b{dv::half{1.0f}}, c{dv::half{1.0f}}, sum(1);
    std::vector<char> scratch;
    dv::host::move_data({op_kind::all_reduce, dv::element::float16, reduction::sum},
                        {{a.data(), sum.data(), 2, 2}, {b.data(), nullptr, 2, 0}, {c.data(), nullptr, 2, 0}}, scratch);
    CHECK(static_cast<float>(sum[0]) == 2050.0f);  // rounding after each sum would give 2048
    std::vector<std::int32_t> x{INT32_MAX}, y{1}, z(1);
    dv::host::move_data({op_kind::all_reduce, dv::element::int32, reduction::sum}, {{x.data(), z.data(), 4, 4}, {y.data(), nullptr, 4, 0}},
                        scratch);
    CHECK(z[0] == INT32_MIN);
    std::vector<std::int8_t> p{-100}, q{-101}, r(1);
    dv::host::move_data({op_kind::all_reduce, dv::element::int8, reduction::average},
                        {{p.data(), r.data(), 1, 1}, {q.data(), nullptr, 1, 0}}, scratch);
    CHECK(r[0] == -100);  // the sum is not cut to the element first
}

namespace {
struct x; struct y; struct dp; struct tp;
}

TEST_CASE("collectives along one axis of a two by two mesh, and along both, in member order") {
    struct row {
        op_kind kind;
        unsigned axes;  // dp 1, tp 2
        int in, out;    // elements
    };
    for (const row c : {row{op_kind::all_gather, 2, 2, 4}, row{op_kind::all_gather, 1, 2, 4}, row{op_kind::all_gather, 3, 2, 8},
                        row{op_kind::shift, 2, 2, 2}, row{op_kind::all_reduce, 1, 2, 2}}) {
        dv::host::world world{4};
        world.run([&](auto& rank) {
            maker m;
            const int a = m.axis(&dv::tag_of<dp>), b = m.axis(&dv::tag_of<tp>);
            m.role(nullptr, {{a, 2}, {b, 2}});
            const int in = m.input(&dv::tag_of<x>, tensor<std::int32_t>(c.in));
            const int out = m.value(&dv::tag_of<y>, tensor<std::int32_t>(c.out), 0, true);
            ir::member op;
            op.kind = c.kind;
            op.reduce = reduction::sum;
            op.offset = 1;
            m.collective(op, c.axes, in, out);
            running r{rank, m};
            const std::vector<std::int32_t> mine{rank.index() * 10, rank.index() * 10 + 1};
            r.bind(0, mine);
            const auto got = r.template read<std::int32_t>(r.run(), 1);
            const int i = rank.index(), beside = i ^ 1, below = i ^ 2, low = std::min(i, beside), left = std::min(i, below);
            const auto at = [](int rank_) { return std::vector<std::int32_t>{rank_ * 10, rank_ * 10 + 1}; };
            std::vector<std::int32_t> expected;
            const auto add = [&](int rank_) { for (const auto v : at(rank_)) expected.push_back(v); };
            if (c.kind == op_kind::shift) add(beside);
            else if (c.kind == op_kind::all_reduce) expected = {10 * (i + below), 10 * (i + below) + 2};
            else if (c.axes == 2) { add(low); add(low + 1); }
            else if (c.axes == 1) { add(left); add(left + 2); }
            else for (int k = 0; k < 4; ++k) add(k);
            CHECK(got == expected);
        });
    }
}

TEST_CASE("a collective over roles, single_rank: all its parts on one rank") {
    dv::host::world world{1};
    world.run([&](auto& rank) {
        maker m;
        m.g.single_rank = true;
        m.role(&dv::tag_of<x>);
        m.role(&dv::tag_of<y>);
        m.p.roles = 1;
        const int a = m.input(&dv::tag_of<x>, tensor<float>(3)), b = m.input(&dv::tag_of<y>, tensor<float>(3));
        const int c = m.value(&dv::tag_of<dp>, tensor<float>(3), 0, true), d = m.value(&dv::tag_of<tp>, tensor<float>(3), 0, true);
        ir::member op;
        op.kind = op_kind::all_reduce;
        op.reduce = reduction::maximum;
        op.local = true;
        op.symbol = m.p.buffers[c].symbol;
        m.task(dv::stream_kind::communication, {op}, {{0, 0, maker::list({a}, {c})}, {0, 0, maker::list({b}, {d})}});
        running r{rank, m};
        const std::vector<float> left{1, 5, 2}, right{4, 0, 2};
        r.bind(0, left);
        r.bind(1, right);
        const auto t = r.run();
        CHECK(r.template read<float>(t, 2) == std::vector<float>{4, 5, 2});
        CHECK(r.template read<float>(t, 3) == std::vector<float>{4, 5, 2});
        CHECK(rank.is(named<x>{}));
        CHECK(rank.is(named<y>{}));
    });
}
