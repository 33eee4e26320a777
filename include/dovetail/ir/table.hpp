// Moving a table (graph, program, plan) between the places its arrays can live: `view` reads an owning or a fixed one.
#pragma once

#include "../core/vec.hpp"

namespace dovetail::ir {

namespace detail {
template <class Table, class Store>
struct rebind;
template <template <class> class Basic, class From, class To>
struct rebind<Basic<From>, To> {
    using type = Basic<To>;
};

}  // namespace detail

template <class Table, class Store>
using rebound = typename detail::rebind<Table, Store>::type;

// A view of every array of `table`, which must outlive it.
template <class Table>
constexpr auto view(const Table& table) {
    rebound<Table, viewing> v{};
    zip(table, v, [](const auto& a, auto& b) { b = a.view(); });
    return v;
}

// The sizes of a table's arrays, in their order.
template <int N>
struct sizes {
    int of[N] = {};
};

}  // namespace dovetail::ir
