// What every causal attention must fulfil. An example has q, k, v, dy, y, dq, dk and dv, `forward()`, which returns the product of y and
// dy, and `backward()`.
#pragma once

#include <doctest/doctest.h>

#include "ops/transformer_values.hpp"
#include "support/numbers.hpp"

namespace attention_checks {

// Against PyTorch's values, of sequences of 3 tokens in 2 heads of 2 elements.
template <class Example>
void has_expected_values(Example e) {
    e.forward();
    e.backward();
    CHECK(support::differs(e.y, expected::attention::y) <= 2);
    CHECK(support::differs(e.dq, expected::attention::dq) <= 2);
    CHECK(support::differs(e.dk, expected::attention::dk) <= 2);
    CHECK(support::differs(e.dv, expected::attention::dv) <= 2);
}

// Against finite differences, of an example of doubles.
template <class Example>
void has_derivatives(Example e) {
    const auto value = [&] { return e.forward(); };
    value();
    e.backward();
    CHECK(support::differs_from_slope(e.dq, e.q, value) < 1e-6);
    CHECK(support::differs_from_slope(e.dk, e.k, value) < 1e-6);
    CHECK(support::differs_from_slope(e.dv, e.v, value) < 1e-6);
}

}  // namespace attention_checks
