// Moving a table (graph, program, plan) between the places its arrays can live: `view` reads an owning or a fixed one,
// `frozen<Make>` evaluates Make::make() at compile time and keeps its arrays as constants.
#pragma once

#include "../core/vec.hpp"

#include <type_traits>
#include <utility>

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

// Make: a type with `static constexpr auto make(from)`, which returns an owning table, `static constexpr const auto& from()`,
// what it is made from, and `static constexpr auto most`, the sizes that its arrays have at most.
//
// Each is evaluated once, which takes care: compilers also evaluate a call with constant arguments when they see it in the body
// of a function, hence the parameter, and g++ evaluates a lambda called in an initialiser twice.
template <class Make>
struct frozen {
private:
    template <class From, int... I>
    static constexpr auto keep(const From& from, std::integer_sequence<int, I...>) {
        const auto data = Make::make(from);
        rebound<std::remove_cv_t<decltype(data)>, fixed_store<Make::most.of[I]...>> kept{};
        zip(data, kept, [](const auto& a, auto& b) { copy_elements(a, b); });
        return kept;
    }
    static constexpr auto kept = keep(Make::from(), std::make_integer_sequence<int, decltype(Make::make(Make::from()))::tables>{});

public:
    static constexpr auto value = view(kept);
};

// The same for one array: Make::make(from, to) writes at most `most` elements and gives their number.
template <class T, class Make>
struct frozen_list {
private:
    template <class From>
    static constexpr auto keep(const From& from) {
        fixed<T, Make::most> f;
        f.count = Make::make(from, f.first);
        return f;
    }
    static constexpr auto kept = keep(Make::from());

public:
    static constexpr span<const T> value = kept.view();
};

}  // namespace dovetail::ir
