// embedding against a look-up by hand, its gradient against sums by hand: tokens that occur often, never, and out of range. Both against
// PyTorch's values (transformer_values.py).
#include <doctest/doctest.h>

#include <dovetail/ops/embedding.hpp>

#include "ops/transformer_values.hpp"
#include "support/numbers.hpp"

#include <algorithm>
#include <vector>

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
    double memory[3 + 6 + 5];
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

TEST_CASE_TEMPLATE("values and gradient", T, float, double, half, bfloat16) {
    using W = tensor<T, 6, 3>;
    using Y = tensor<T, 5, 3>;
    const filled<tokens> t = some_tokens();
    const filled<W> table = support::eighth_of<W>(1);
    const filled<Y> dy = support::eighth_of<Y>(2);
    filled<Y> y;
    filled<W> gradient;
    double memory[3 + 6 + 5];
    ops::embedding::launch(host::stream{}, t.in(), table.in(), y.out());
    ops::embedding_gradient<6>::launch(support::with_workspace(memory), dy.in(), t.in(), gradient.out());
    CHECK(support::differs(y, expected::embedding::y) == 0);
    CHECK(support::differs(gradient, expected::embedding::gradient) == 0);
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
    float memory[1 + 4 + 5];
    ops::embedding_gradient<4>::launch(support::with_workspace(memory), y.in(), t.in(), table.out());
    CHECK(table[0] == y[1]);
    CHECK(table[1] == 0);
    CHECK(table[2] == y[0] + y[2] + y[4]);
    CHECK(table[3] == 0);
}

TEST_CASE_TEMPLATE("the gradient of a large vocabulary is summed in the order of the tokens", T, float, double, half, bfloat16) {
    constexpr int rows = 4096, columns = 3, vocabulary = 50'000;
    using gradient_of = ops::embedding_gradient<vocabulary>;
    using Y = tensor<T, rows, columns>;
    using W = tensor<T, vocabulary, columns>;
    using I = tensor<std::int32_t, rows>;
    using R = ops_detail::arithmetic_t<T>;
    const filled<Y> dy = support::eighth_of<Y>(1);
    filled<I> t;
    std::vector<R> sums(vocabulary * columns);
    for (std::size_t i = 0; i < rows; ++i) {
        t.elements[i] = i % 3 == 0 ? 49'999 : static_cast<int>(i * i % 50'021) - 10;  // often, at times, out of range
        if (t.elements[i] < 0 || t.elements[i] >= vocabulary) continue;
        for (std::size_t j = 0; j < columns; ++j)
            sums[static_cast<std::size_t>(t.elements[i]) * columns + j] += static_cast<R>(dy.elements[i * columns + j]);
    }
    std::vector<char> memory(gradient_of::workspace(Y::type, I::type));
    filled<W> gradient;
    gradient_of::launch(host::stream{.workspace = memory.data()}, dy.in(), t.in(), gradient.out());
    CHECK(std::equal(sums.begin(), sums.end(), gradient.elements.begin(), [](R sum, T g) { return static_cast<T>(sum) == g; }));
}

TEST_CASE("the cost of the gradient is linear in the tokens") {
    constexpr auto bytes = [](std::int64_t count) {
        const tensor_type y = tensor<half, 1, 4096>::type.with_extents(count, 4096), t = tensor<int, 1>::type.with_extents(count);
        return ops::embedding_gradient<50'000>::cost(y, t).bytes;
    };
    static_assert(bytes(16'384) - bytes(8'192) == bytes(24'576) - bytes(16'384));
    static_assert(bytes(8'192) < (50'000 + 8'192 + 200) * 8'192);
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
