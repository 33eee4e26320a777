// Tokens written to caches one after the other attend as the rows of causal_attention do; positions out of range are refused.
#include <doctest/doctest.h>

#include <dovetail/ops/attention.hpp>
#include <dovetail/ops/cache.hpp>

#include "support/numbers.hpp"

using namespace dovetail;
using support::eighth_of;
using support::filled;

namespace {

constexpr int length = 4, head_size = 3, sequences = 2, columns = 6;

// Row `position` of each sequence.
template <class X, class C>
filled<X> rows_at(const filled<C>& all, int position) {
    filled<X> rows;
    for (int s = 0; s < sequences; ++s)
        for (int j = 0; j < columns; ++j)
            rows.elements[static_cast<std::size_t>(s * columns + j)] =
                all.elements[static_cast<std::size_t>((s * length + position) * columns + j)];
    return rows;
}

}  // namespace

TEST_CASE_TEMPLATE("token by token as all at once", T, float, double, half, bfloat16) {
    using X = tensor<T, sequences, columns>;
    using C = tensor<T, sequences * length, columns>;
    const filled<C> q = eighth_of<C>(1, 4), k = eighth_of<C>(2, 4), v = eighth_of<C>(3);
    filled<C> whole, keys, values;
    filled<tensor<T, sequences * length, 2 * length>> p;
    double memory[sequences * 2 * length];
    const host::stream s = support::with_workspace(memory);
    ops::causal_attention<length, head_size>::launch(s, q.in(), k.in(), v.in(), whole.out(), p.out());
    filled<tensor<int, sequences>> positions;
    for (int i = 0; i < length; ++i) {
        for (int& at : positions.elements) at = i;
        ops::write_to_cache<length>::launch(s, keys.inout(), rows_at<X>(k, i).in(), positions.in());
        ops::write_to_cache<length>::launch(s, values.inout(), rows_at<X>(v, i).in(), positions.in());
        filled<X> y;
        ops::cached_attention<length, head_size>::launch(s, rows_at<X>(q, i).in(), keys.in(), values.in(), positions.in(), y.out());
        const filled<X> exact = rows_at<X>(whole, i);
        for (int j = 0; j < X::size; ++j) CHECK(std::abs(y[j] - exact[j]) <= 2 * support::tolerance<T>(exact[j]));
    }
    CHECK(keys.elements == k.elements);
    CHECK(values.elements == v.elements);
}

TEST_CASE("positions out of range are refused") {
    using X = tensor<float, sequences, columns>;
    using C = tensor<float, sequences * length, columns>;
    filled<C> cache{1};
    filled<X> row{2}, y;
    filled<tensor<int, sequences>> positions;
    float memory[sequences * 2 * length];
    const host::stream s = support::with_workspace(memory);
    for (int bad : {-1, length}) {
        positions.elements[1] = bad;
        CHECK_THROWS_AS(ops::write_to_cache<length>::launch(s, cache.inout(), row.in(), positions.in()), position_error);
        CHECK_THROWS_AS((ops::cached_attention<length, head_size>::launch(s, row.in(), cache.in(), cache.in(), positions.in(), y.out())),
                        position_error);
    }
    CHECK_THROWS_WITH(ops::write_to_cache<length>::launch(s, cache.inout(), row.in(), positions.in()),
                      "cache: sequence 1 is at position 4, there are 4");
    CHECK(cache.elements == filled<C>{1}.elements);
}

TEST_CASE("shape rules refuse what does not fit") {
    constexpr auto rows = tensor<half, 2, 6>::type, cache = tensor<half, 8, 6>::type, positions = tensor<int, 2>::type;
    using attend = ops::cached_attention<4, 3>;
    static_assert(ops::write_to_cache<4>::result(cache, rows, positions) == cache);
    static_assert(!ops::write_to_cache<5>::result(cache, rows, positions).valid());
    static_assert(!ops::write_to_cache<4>::result(cache, rows, tensor<int, 3>::type).valid());
    static_assert(!ops::write_to_cache<4>::result({}, {}, {}).valid());
    static_assert(attend::result(rows, cache, cache, positions) == rows);
    static_assert(!attend::result(rows, cache, rows, positions).valid());
    static_assert(!attend::result(rows, cache, cache, scalar<int>::type).valid());
    static_assert(!ops::cached_attention<4, 4>::result(rows, cache, cache, positions).valid());
    static_assert(attend::workspace(rows, cache, cache, positions) == 4 * 2 * 2 * 4);
}
