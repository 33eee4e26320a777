// vec, span and fixed: the same results at run time, under sanitizers, and in constant expressions, where a leak is an error.
#include <dovetail/core/vec.hpp>

#include <doctest/doctest.h>

#include <utility>

using dovetail::fixed;
using dovetail::span;
using dovetail::vec;

namespace {

// Counts the elements alive, to see that each is destroyed once.
struct counted {
    static inline int alive = 0;
    int value = 0;
    counted() { ++alive; }
    counted(int v) : value{v} { ++alive; }
    counted(const counted& other) : value{other.value} { ++alive; }
    counted& operator=(const counted&) = default;
    ~counted() { --alive; }
};

constexpr bool grows_and_shrinks() {
    vec<int> v;
    bool good = v.empty() && v.size() == 0 && v.view().empty();
    for (int i = 0; i < 100; ++i) v.push(i * i);
    for (int i = 0; i < 100; ++i) good = good && v[i] == i * i;
    vec<int> doubled;  // an element of its own, also where the array moves
    doubled.push(1);
    for (int i = 0; i < 20; ++i) doubled.push(doubled[i]);
    for (const int x : doubled) good = good && x == 1;
    good = good && v.size() == 100 && v.back() == 99 * 99;
    v.cut(99);
    good = good && v.size() == 99 && v.back() == 98 * 98;
    v.resize(3);
    good = good && v.size() == 3 && v.back() == 4;
    v.resize(6);
    good = good && v[3] == 0 && v[5] == 0 && v[2] == 4;
    v.clear();
    v.push(7);
    return good && v.size() == 1 && v[0] == 7;
}

constexpr bool copies_and_moves() {
    vec<int> a(3, 5);
    vec<int> b = a;
    b[0] = 1;
    bool good = a[0] == 5 && b[0] == 1 && b.size() == 3;
    vec<int> c = std::move(b);
    good = good && c[0] == 1 && b.empty();  // NOLINT(bugprone-use-after-move): moved from is empty
    b = c;
    c = vec<int>(2);
    good = good && b.size() == 3 && c.size() == 2 && c[1] == 0;
    b = b.view().size() == 3 ? b : c;  // to itself
    vec<int> none(0), negative(-1 + 1);
    none = negative;
    none.push(1);
    vec<int> filled(3, dovetail::unset{});
    for (int i = 0; i < 3; ++i) filled[i] = i;
    good = good && filled.size() == 3 && filled.back() == 2;
    return good && b[2] == 5 && none.size() == 1;
}

constexpr bool views() {
    vec<int> v;
    for (int i = 0; i < 10; ++i) v.push(i);
    int sum = 0;
    for (int x : v.view().subspan(2, 3)) sum += x;
    fixed<int, 10> frozen{};
    dovetail::copy_elements(v, frozen);
    span<const int> view = frozen.view();
    int all = 0;
    for (int x : view) all += x;
    fixed<int, 0> nothing{};
    for (int x : nothing.view()) all += 1000 + x;
    return sum == 2 + 3 + 4 && all == 45 && view.size() == 10 && nothing.size() == 0 && view.subspan(10, 0).empty();
}

// An element that owns: vec of vec is how a pass keeps lists of lists.
constexpr bool nested() {
    vec<vec<int>> rows(4);
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j <= i; ++j) rows[i].push(i + j);
    vec<vec<int>> copy = rows;
    rows[3].push(100);
    for (int i = 0; i < 20; ++i) rows.push(copy[i % 4]);
    return copy[3].size() == 4 && rows[3].size() == 5 && rows[23].size() == 4 && rows[23].back() == 6;
}

template <class Store>
struct table {
    typename Store::template of<int, 0> first;
    typename Store::template of<long, 1> second;
};

}  // namespace

TEST_CASE("in a constant expression") {
    static_assert(grows_and_shrinks());
    static_assert(copies_and_moves());
    static_assert(views());
    static_assert(nested());
}

TEST_CASE("at run time") {
    CHECK(grows_and_shrinks());
    CHECK(copies_and_moves());
    CHECK(views());
    CHECK(nested());
}

TEST_CASE("every element is destroyed once") {
    {
        vec<counted> v;
        for (int i = 0; i < 50; ++i) v.push(i);
        vec<counted> w = v;
        w = std::move(v);
        w.resize(10);
        CHECK(w[9].value == 9);
        CHECK(counted::alive > 0);
    }
    CHECK(counted::alive == 0);
}

TEST_CASE("a table is one template over where its arrays live") {
    table<dovetail::owning> made;
    made.first.push(1);
    made.second.push(2);
    made.second.push(3);
    table<dovetail::fixed_store<1, 2>> frozen;
    dovetail::copy_elements(made.first, frozen.first);
    dovetail::copy_elements(made.second, frozen.second);
    const table<dovetail::viewing> seen{frozen.first.view(), frozen.second.view()};
    CHECK(seen.first[0] == 1);
    CHECK(seen.second[1] == 3);
    CHECK(seen.second.size() == 2);
}
