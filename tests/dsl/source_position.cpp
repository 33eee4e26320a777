// Descriptors and source positions: every type within a graph has a number, and the number leads back to the type.
#include "support/samples.hpp"

#include <dovetail/core/display.hpp>

#include <doctest/doctest.h>

namespace {

using namespace samples;

template <int> struct body_name;
template <int I, int J> struct cell;
template <int I, int J, int K> struct solid;
template <int I> using one = dv::let<body_name<I>, add(x, x)>;
template <int I, int J> using two = dv::let<cell<I, J>, add(x, x)>;
template <int I, int J> using back = dv::update<a, add(a, cell<I, J>)>;
// The same for every index.
template <int I> using again = dv::group<dv::group<>, dv::update<a, add(a, x)>>;
template <int I, int J, int K> using over_and_over = dv::group<dv::group<>, dv::update<a, add(a, x)>, dv::update<a, multiply(a, b)>>;

// Graphs that are templates, as keywords of the language and families of names are.
template <int I> struct numbered : dv::graph<dv::let<body_name<I>, add(x, x)>> {};
template <class T> struct typed : dv::graph<dv::let<y, add(x, x)>, dv::output<T>> {};

template <class T>
inline constexpr const dv::dsl::descriptor& descriptor = dv::dsl::describe<T>;

}  // namespace

TEST_CASE("a mention is the type at its place, in written order") {
    using statement = dv::let<y, add(x, multiply(a, b))>;
    static_assert(descriptor<statement>.positions == 9);
    static_assert(std::is_same_v<dv::dsl::type_at<statement, 0>, statement>);
    static_assert(std::is_same_v<dv::dsl::type_at<statement, 1>, y>);
    static_assert(std::is_same_v<dv::dsl::type_at<statement, 2>, add(x, multiply(a, b))>);
    static_assert(std::is_same_v<dv::dsl::type_at<statement, 3>, add>);
    static_assert(std::is_same_v<dv::dsl::type_at<statement, 4>, x>);
    static_assert(std::is_same_v<dv::dsl::type_at<statement, 5>, multiply(a, b)>);
    static_assert(std::is_same_v<dv::dsl::type_at<statement, 6>, multiply>);
    static_assert(std::is_same_v<dv::dsl::type_at<statement, 7>, a>);
    static_assert(std::is_same_v<dv::dsl::type_at<statement, 8>, b>);
    CHECK(dv::display(dv::dsl::describe<y>.id) == "y");
}

TEST_CASE("repeat and all stand for what they expand to, the last index fastest") {
    using repeated = dv::repeat<one, 3>;
    static_assert(descriptor<repeated>.child_count == 3);
    static_assert(std::is_same_v<dv::dsl::type_at<repeated, 1 + descriptor<one<0>>.positions>, one<1>>);
    using grid = dv::repeat<two, 2, 3>;
    static_assert(descriptor<grid>.child_count == 6);
    static_assert(std::is_same_v<dv::dsl::type_at<grid, 1 + 4 * descriptor<two<0, 0>>.positions>, two<1, 1>>);
    static_assert(descriptor<dv::all<4, body_name>>.child_count == 4);
    static_assert(descriptor<dv::repeat<again, 3>>.child_count == 3);
    static_assert(descriptor<dv::repeat<over_and_over, 2, 2, 2>>.child_count == 8);
    static_assert(std::is_same_v<dv::dsl::type_at<dv::repeat<over_and_over, 2, 2, 2>, 1>, over_and_over<0, 0, 0>>);
    static_assert(descriptor<dv::repeat<one, 0>>.child_count == 0);
    static_assert(descriptor<dv::repeat<one, dv::down<0>>>.child_count == 0);
    static_assert(std::is_same_v<dv::dsl::made_of<dv::repeat<one, dv::down<3>>>, dv::dsl::types<one<2>, one<1>, one<0>>>);
    using rows = dv::repeat<two, 2, dv::down<2>>;
    static_assert(std::is_same_v<dv::dsl::made_of<rows>, dv::dsl::types<two<0, 1>, two<0, 0>, two<1, 1>, two<1, 0>>>);
    static_assert(std::is_same_v<dv::dsl::made_of<dv::all<dv::down<2>, body_name>>, dv::dsl::types<body_name<1>, body_name<0>>>);
    using cells = dv::all<dv::counts<2, dv::down<3>>, cell>;
    static_assert(descriptor<cells>.child_count == 6 && descriptor<cells>.arguments == 6);
    static_assert(std::is_same_v<dv::dsl::made_of<cells>,
                                 dv::dsl::types<cell<0, 2>, cell<0, 1>, cell<0, 0>, cell<1, 2>, cell<1, 1>, cell<1, 0>>>);
    static_assert(std::is_same_v<dv::dsl::type_at<cells, 4>, cell<1, 2>>);
    static_assert(descriptor<dv::all<dv::counts<2, 2, 2>, solid>>.child_count == 8);
    static_assert(std::is_same_v<dv::dsl::type_at<dv::all<dv::counts<2, 2, 3>, solid>, 6>, solid<0, 1, 2>>);
    static_assert(std::is_same_v<dv::dsl::made_of<dv::all<dv::counts<2>, body_name>>, dv::dsl::made_of<dv::all<2u, body_name>>>);
    static_assert(descriptor<dv::all<dv::counts<0, 4>, cell>>.child_count == 0);
    static_assert(descriptor<dv::group<>>.child_count == 0);
    CHECK(true);
}

TEST_CASE("when stands for its statements, or for none") {
    static_assert(descriptor<dv::when<true, one<0>, one<1>>>.child_count == 2);
    static_assert(descriptor<dv::when<false, one<0>, one<1>>>.child_count == 0);
    static_assert(std::is_same_v<dv::dsl::type_at<dv::when<true, one<0>, one<1>>, 1 + descriptor<one<0>>.positions>, one<1>>);
    CHECK(true);
}

TEST_CASE("a pipeline stands for its cells on their roles, in the order of its schedule") {
    using dv::on;
    using chunks = dv::pipeline<2, 2, dv::one_f_one_b, stage, two, back>;
    static_assert(
        std::is_same_v<dv::dsl::made_of<chunks>, dv::dsl::types<on<stage<0>, two<0, 0>>, on<stage<0>, two<0, 1>>, on<stage<1>, two<1, 0>>,
                                                                on<stage<1>, back<1, 0>>, on<stage<1>, two<1, 1>>, on<stage<0>, back<0, 0>>,
                                                                on<stage<1>, back<1, 1>>, on<stage<0>, back<0, 1>>>>);
    constexpr int third = 1 + 2 * descriptor<on<stage<0>, two<0, 0>>>.positions;
    static_assert(std::is_same_v<dv::dsl::type_at<chunks, third + 1>, stage<1>>);
    static_assert(std::is_same_v<dv::dsl::located<chunks, third + 2>,
                                 dv::error::at<dv::error::in<two, 1, 0>, dv::error::in_role<stage<1>>, dv::error::statement<1>>>);
    CHECK(true);
}

TEST_CASE("a schedule places the chunks of a pipeline") {
    static_assert(dv::pipeline_chunks<dv::gpipe, 4> == 4 && dv::pipeline_stage<dv::gpipe, 4, 3> == 3);
    static_assert(dv::pipeline_chunks<dv::one_f_one_b, 4> == 4 && dv::pipeline_chunks<dv::zero_bubble, 4> == 4);
    static_assert(dv::pipeline_chunks<dv::interleaved<3>, 4> == 12 && dv::pipeline_stage<dv::interleaved<3>, 4, 6> == 2);
    static_assert(dv::pipeline_chunks<dv::v_half, 4> == 8 && dv::pipeline_stage<dv::v_half, 4, 3> == 3);
    static_assert(dv::pipeline_stage<dv::v_half, 4, 4> == 3 && dv::pipeline_stage<dv::v_half, 4, 7> == 0);
    CHECK(true);
}

TEST_CASE("a split stands for its statements, and its number is that of one statement in the path of an error") {
    static_assert(descriptor<dv::split<2, one<0>, one<1>>>.child_count == 2 && descriptor<dv::split<2, one<0>>>.number == 2);
    static_assert(std::is_same_v<dv::dsl::type_at<dv::split<2, one<0>, one<1>>, 1 + descriptor<one<0>>.positions>, one<1>>);
    using split_in_graph = dv::graph<dv::input<x, vector>, dv::split<2, one<0>, dv::repeat<one, 3>>>;
    constexpr int last = descriptor<split_in_graph>.positions - descriptor<one<2>>.positions;
    static_assert(std::is_same_v<dv::dsl::type_at<split_in_graph, last>, one<2>>);
    static_assert(std::is_same_v<dv::dsl::located<split_in_graph, last>,
                                 dv::error::at<dv::error::statement<2>, dv::error::statement<2>, dv::error::in<one, 2>>>);
    CHECK(true);
}

TEST_CASE("a long graph is numbered without a limit on nesting or width") {
    using wide = dv::repeat<one, 300>;
    static_assert(descriptor<wide>.positions == 1 + 300 * descriptor<one<0>>.positions);
    static_assert(std::is_same_v<dv::dsl::type_at<wide, 1 + 299 * descriptor<one<0>>.positions + 1>, body_name<299>>);
    CHECK(true);
}

TEST_CASE("a graph is a graph by whatever name, and a name where it stands as a statement") {
    static_assert(dv::dsl::describe_graph<numbered<7>>.kind == dv::dsl::keyword::graph &&
                  dv::dsl::describe_graph<numbered<7>>.child_count == 1);
    static_assert(std::is_same_v<dv::dsl::type_at<numbered<7>, 0>, numbered<7>>);
    static_assert(std::is_same_v<dv::dsl::type_at<numbered<7>, 1>, one<7>>);
    static_assert(std::is_same_v<dv::dsl::type_at<numbered<7>, 2>, body_name<7>>);
    static_assert(dv::dsl::describe_graph<typed<y>>.child_count == 2);
    static_assert(std::is_same_v<dv::dsl::type_at<typed<y>, 1 + descriptor<dv::let<y, add(x, x)>>.positions>, dv::output<y>>);
    using bare = dv::graph<dv::let<y, add(x, x)>>;
    static_assert(std::is_same_v<dv::dsl::type_at<bare, 2>, y>);
    static_assert(descriptor<numbered<7>>.kind == dv::dsl::keyword::name && descriptor<bare>.kind == dv::dsl::keyword::graph);
    static_assert(descriptor<bare>.positions == dv::dsl::describe_graph<numbered<7>>.positions);
    CHECK(true);
}
