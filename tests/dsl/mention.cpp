// Records and mentions: every type of a graph has a number, and the number gives the type back.
#include "support/samples.hpp"

#include <dovetail/core/display.hpp>

#include <doctest/doctest.h>

namespace {

using namespace samples;

template <int> struct body_name;
template <int I, int J> struct cell;
template <int I> using one = dv::let<body_name<I>, add(x, x)>;
template <int I, int J> using two = dv::let<cell<I, J>, add(x, x)>;
// The same for every index.
template <int I> using again = dv::group<dv::group<>, dv::update<a, add(a, x)>>;
template <int I, int J, int K> using over_and_over = dv::group<dv::group<>, dv::update<a, add(a, x)>, dv::update<a, multiply(a, b)>>;

// Graphs that are templates, as words of the language and families of names are.
template <int I> struct numbered : dv::graph<dv::let<body_name<I>, add(x, x)>> {};
template <class T> struct typed : dv::graph<dv::let<y, add(x, x)>, dv::output<T>> {};

template <class T>
inline constexpr const dv::dsl::record& record = dv::dsl::describe<T>;

}  // namespace

TEST_CASE("a mention is the type at its place, in written order") {
    using statement = dv::let<y, add(x, multiply(a, b))>;
    static_assert(record<statement>.mentions == 9);
    static_assert(std::is_same_v<dv::dsl::mention<statement, 0>, statement>);
    static_assert(std::is_same_v<dv::dsl::mention<statement, 1>, y>);
    static_assert(std::is_same_v<dv::dsl::mention<statement, 2>, add(x, multiply(a, b))>);
    static_assert(std::is_same_v<dv::dsl::mention<statement, 3>, add>);
    static_assert(std::is_same_v<dv::dsl::mention<statement, 4>, x>);
    static_assert(std::is_same_v<dv::dsl::mention<statement, 5>, multiply(a, b)>);
    static_assert(std::is_same_v<dv::dsl::mention<statement, 6>, multiply>);
    static_assert(std::is_same_v<dv::dsl::mention<statement, 7>, a>);
    static_assert(std::is_same_v<dv::dsl::mention<statement, 8>, b>);
    CHECK(dv::display(dv::dsl::describe<y>.id) == "y");
}

TEST_CASE("repeat and all stand for what they expand to, the last index fastest") {
    using repeated = dv::repeat<one, 3>;
    static_assert(record<repeated>.child_count == 3);
    static_assert(std::is_same_v<dv::dsl::mention<repeated, 1 + record<one<0>>.mentions>, one<1>>);
    using grid = dv::repeat<two, 2, 3>;
    static_assert(record<grid>.child_count == 6);
    static_assert(std::is_same_v<dv::dsl::mention<grid, 1 + 4 * record<two<0, 0>>.mentions>, two<1, 1>>);
    static_assert(record<dv::all<4, body_name>>.child_count == 4);
    static_assert(record<dv::repeat<again, 3>>.child_count == 3);
    static_assert(record<dv::repeat<over_and_over, 2, 2, 2>>.child_count == 8);
    static_assert(std::is_same_v<dv::dsl::mention<dv::repeat<over_and_over, 2, 2, 2>, 1>, over_and_over<0, 0, 0>>);
    static_assert(record<dv::repeat<one, 0>>.child_count == 0);
    static_assert(record<dv::group<>>.child_count == 0);
    CHECK(true);
}

TEST_CASE("a long graph is numbered without a limit on nesting or width") {
    using wide = dv::repeat<one, 300>;
    static_assert(record<wide>.mentions == 1 + 300 * record<one<0>>.mentions);
    static_assert(std::is_same_v<dv::dsl::mention<wide, 1 + 299 * record<one<0>>.mentions + 1>, body_name<299>>);
    CHECK(true);
}

TEST_CASE("a graph is a graph by whatever name, and a name where it stands as a statement") {
    static_assert(dv::dsl::describe_graph<numbered<7>>.kind == dv::dsl::word::graph && dv::dsl::describe_graph<numbered<7>>.child_count == 1);
    static_assert(std::is_same_v<dv::dsl::mention<numbered<7>, 0>, numbered<7>>);
    static_assert(std::is_same_v<dv::dsl::mention<numbered<7>, 1>, one<7>>);
    static_assert(std::is_same_v<dv::dsl::mention<numbered<7>, 2>, body_name<7>>);
    static_assert(dv::dsl::describe_graph<typed<y>>.child_count == 2);
    static_assert(std::is_same_v<dv::dsl::mention<typed<y>, 1 + record<dv::let<y, add(x, x)>>.mentions>, dv::output<y>>);
    using bare = dv::graph<dv::let<y, add(x, x)>>;
    static_assert(std::is_same_v<dv::dsl::mention<bare, 2>, y>);
    static_assert(record<numbered<7>>.kind == dv::dsl::word::name && record<bare>.kind == dv::dsl::word::graph);
    static_assert(record<bare>.mentions == dv::dsl::describe_graph<numbered<7>>.mentions);
    CHECK(true);
}
