// Moving a table (graph, program, plan) between the places its arrays can live: `view` reads an owning or a fixed one,
// `frozen<make>` evaluates make() at compile time and keeps its arrays as constants of exactly their sizes.
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

template <int N>
struct sizes {
    int of[N] = {};
};

template <class Data>
constexpr auto sizes_of(const Data& data) {
    sizes<Data::tables> s;
    int i = 0;
    Data other{};
    zip(data, other, [&](const auto& a, auto&) { s.of[i++] = a.size(); });
    return s;
}
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

// Make: a type with `static constexpr auto make()` that returns an owning table.
template <class Make>
struct frozen {
private:
    static constexpr auto sizes = detail::sizes_of(Make::make());
    template <int... I>
    static constexpr auto keep(std::integer_sequence<int, I...>) {
        auto data = Make::make();
        rebound<decltype(data), fixed_store<sizes.of[I]...>> kept{};
        zip(data, kept, [](const auto& a, auto& b) { copy_elements(a, b); });
        return kept;
    }
    static constexpr auto kept = keep(std::make_integer_sequence<int, decltype(Make::make())::tables>{});

public:
    static constexpr auto value = view(kept);
};

// The same for one array: Make::make() returns a vec.
template <class Make>
struct frozen_list {
private:
    using element = std::remove_cvref_t<decltype(Make::make()[0])>;
    static constexpr int size = Make::make().size();
    static constexpr auto kept = [] {
        const vec<element> list = Make::make();
        fixed<element, size> f;
        copy_elements(list, f);
        return f;
    }();

public:
    static constexpr span<const element> value = kept.view();
};

}  // namespace dovetail::ir
