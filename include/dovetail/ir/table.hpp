// Moving a table (graph, program, plan) between the places its arrays can live: `view` reads an owning or a fixed one,
// `frozen_list<T, Make>` is an array that Make::make() fills at compile time.
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

// One array as a constant. Make: a type with `static constexpr int make(from, to)`, which writes the elements and gives their
// number, `static constexpr const auto& from()`, what they are made from, and `static constexpr int most`, how many at most.
//
// Each is evaluated once, which takes care: compilers also evaluate a call with constant arguments when they see it in the body
// of a function, hence the parameter, and g++ evaluates a lambda called in an initialiser twice.
//
// It is a variable of the namespace: of a member of a class, clang asks at each read where it was defined.
namespace detail {
template <class T, class Make, class From>
constexpr auto keep(taken<From> from) {
    fixed<T, Make::most> f{};
    f.count = Make::make(from, f.first);
    return f;
}
template <class T, class Make>
inline constexpr auto kept_list = keep<T, Make>(Make::from());
}  // namespace detail

template <class T, class Make>
struct frozen_list {
    static constexpr const auto& kept = detail::kept_list<T, Make>;
    static constexpr span<const T> value = kept.view();
};

}  // namespace dovetail::ir
