// embedding against a look-up by hand, its gradient against sums by hand: tokens that occur twice, never, and out of range.
#include <doctest/doctest.h>

#include <dovetail/ops/embedding.hpp>

#include "support/numbers.hpp"

using namespace dovetail;
using support::filled;

namespace {

using tokens = tensor<std::int32_t, 5>;

filled<tokens> some_tokens() {
    filled<tokens> t;
    t.elements = {2, 0, 2, 5, 2};
    return t;
}

}  // namespace

TEST_CASE_TEMPLATE("rows and their gradients", T, float, double, half, bfloat16) {
    using W = tensor<T, 6, 3>;
    using Y = tensor<T, 5, 3>;
    const filled<tokens> t = some_tokens();
    const filled<W> table{1};
    filled<Y> y;
    ops::embedding::launch(host::stream{}, t.in(), table.in(), y.out());
    const filled<Y> dy{2};
    filled<W> gradient{3}, exact;
    double memory[3];
    ops::embedding_gradient<6>::launch(support::with_workspace(memory), dy.in(), t.in(), gradient.out());
    for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 3; ++j) {
            const int token = t.elements[static_cast<std::size_t>(i)];
            CHECK(y[i * 3 + j] == table[token * 3 + j]);
            T& sum = exact.elements[static_cast<std::size_t>(token * 3 + j)];  // of three halves: exact
            sum = static_cast<T>(static_cast<float>(sum) + static_cast<float>(dy[i * 3 + j]));
        }
    for (int i = 0; i < W::size; ++i) CHECK(gradient[i] == exact[i]);
}

TEST_CASE("a token out of range is refused, and left out of the gradient") {
    using W = tensor<float, 4, 1>;
    using Y = tensor<float, 5, 1>;
    filled<tokens> t = some_tokens();
    filled<W> table{1};
    filled<Y> y{1};
    CHECK_THROWS_WITH_AS(ops::embedding::launch(host::stream{}, t.in(), table.in(), y.out()),
                         "embedding: row 3 has token 5, the table has 4 rows", token_error);
    t.elements[3] = -1;
    CHECK_THROWS_AS(ops::embedding::launch(host::stream{}, t.in(), table.in(), y.out()), token_error);
    float memory[1];
    ops::embedding_gradient<4>::launch(support::with_workspace(memory), y.in(), t.in(), table.out());
    CHECK(table[0] == y[1]);
    CHECK(table[1] == 0);
    CHECK(table[2] == y[0] + y[2] + y[4]);
    CHECK(table[3] == 0);
}

TEST_CASE("shape rules refuse what does not fit") {
    constexpr auto t = tokens::type, table = tensor<half, 6, 3>::type, y = tensor<half, 5, 3>::type;
    static_assert(ops::embedding::result(t, table) == y);
    static_assert(!ops::embedding::result(tensor<float, 5>::type, table).valid());
    static_assert(!ops::embedding::result(tensor<int, 5, 1>::type, table).valid());
    static_assert(!ops::embedding::result(t, tensor<half, 6>::type).valid() && !ops::embedding::result({}, {}).valid());
    static_assert(ops::embedding_gradient<6>::result(y, t) == table);
    static_assert(!ops::embedding_gradient<6>::result(tensor<half, 4, 3>::type, t).valid());
    static_assert(!ops::embedding_gradient<6>::result(y, tensor<float, 5>::type).valid());
}
