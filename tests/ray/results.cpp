// Ray's tests of several results, of results that nobody reads, and of the shapes of graphs: fan-out, chains, several readers, and back to
// the same actor.
#include "actors.hpp"

using namespace ray;

namespace {

using first = at<actor<0>, out<0>>;

// The method `return_two`: the argument and one more.
struct return_two {
    static constexpr dv::results result(dv::tensor_type t) { return {t, t}; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> same, dv::out<X> next) {
        same[0] = from[0];
        next[0] = from[0] + 1;
    }
};
struct return_two_as_one {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t.with_extents(2); }
    template <class X, class Y>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<Y> to) {
        to[0] = from[0];
        to[1] = from[0] + 1;
    }
};
struct return_two_from_three {
    static constexpr dv::results result(dv::tensor_type t) { return {t, t, t}; }
};
// The method `append_to`, of numbers by their digits.
template <int Digit>
struct append_to {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> to) { to[0] = 10 * from[0] + Digit; }
};

// ---- several results
template <int Second>
struct two_returns : dv::graph<
    arguments<1>,
    dv::on<actor<0>, dv::let<dv::values<v<0>, v<1>>, return_two(in<0>)>>,
    dv::on<actor<1>, dv::let<out<0>, copy(v<0>)>>,
    dv::on<actor<Second>, dv::let<out<1>, copy(v<1>)>>,
    dv::output<out<0>, out<1>>> {};
struct inc_two_returns : dv::graph<
    arguments<1>,
    dv::on<actor<0>, starts_with<0>, dv::update<total<0>, add(total<0>, in<0>)>, dv::let<dv::values<out<0>, out<1>>, return_two(total<0>)>>,
    dv::output<out<0>, out<1>>> {};
struct two_as_one : dv::graph<arguments<1>, dv::on<actor<0>, dv::let<out<0>, return_two_as_one(in<0>)>>, dv::output<out<0>>> {};

// ---- one of two results is not wanted, and that is said
using made = dv::let<v<0>, copy(in<0>)>;
struct first_of_two : dv::graph<arguments<1>, dv::on<actor<0>, dv::let<dv::values<out<0>, dv::discard>, return_two(in<0>)>>,
                                dv::output<out<0>>> {};
struct second_of_two : dv::graph<arguments<1>, dv::on<actor<0>, dv::let<dv::values<dv::discard, out<0>>, return_two(in<0>)>>,
                                 dv::output<out<0>>> {};

// ---- shapes
struct one_output : dv::graph<arguments<1>, dv::on<actor<0>, dv::let<out<0>, copy(in<0>)>>, dv::output<out<0>>> {};
struct three_outputs : dv::graph<
    arguments<2>,
    dv::on<actor<0>, dv::let<out<0>, copy(in<0>)>>,
    dv::on<actor<1>, dv::let<out<1>, copy(in<1>)>>,
    dv::on<actor<2>, dv::let<out<2>, copy(in<0>)>>,
    dv::output<out<0>, out<1>, out<2>>> {};
template <int I> using scattered = stateful<I, 0, inc<I, out<I>, in<0>>>;
template <int N>
struct scatter_gather : dv::graph<arguments<1>, dv::repeat<scattered, N>, dv::output<dv::all<N, out>>> {};
template <int I> using link = dv::on<actor<I>, dv::let<v<I + 1>, append_to<I>(v<I>)>>;
template <int N>
struct chain : dv::graph<dv::input<v<0>, number>, dv::repeat<link, N>, dv::output<v<N>>> {};
template <int N>
void chains(float wanted) {
    run_overlapped<chain<N>>(
        N, [](auto& step, int) { step.bind(dv::name<v<0>>, 0.0f); },
        [&](auto& step, auto& ticket, int rank, int run) { ray::expect<actor<N - 1>, v<N>>(step, ticket, rank, run, {wanted}); });
}

struct one_actor_thrice : dv::graph<
    arguments<1>,
    stateful<0, 0, inc<0, v<0>, in<0>>, inc<0, v<1>, v<0>>, inc<0, out<0>, v<1>>>,
    dv::output<out<0>>> {};
struct there_and_back : dv::graph<
    arguments<1>,
    stateful<0, 0, inc<0, v<0>, in<0>>, inc<0, out<0>, v<1>>>,
    stateful<1, 100, inc<1, v<1>, v<0>>>,
    dv::output<out<0>>> {};
struct here_and_there : dv::graph<
    arguments<1>,
    stateful<0, 0, inc<0, v<0>, in<0>>, inc<0, out<0>, v<0>>>,
    stateful<1, 100, inc<1, out<1>, v<0>>>,
    dv::output<out<0>, out<1>>> {};
struct two_readers_here : dv::graph<
    arguments<1>,
    dv::on<actor<0>, made, dv::let<out<0>, copy(v<0>)>, dv::let<out<1>, copy(v<0>)>>,
    dv::output<out<0>, out<1>>> {};
struct two_readers_there : dv::graph<
    arguments<1>,
    stateful<0, 0, inc<0, v<0>, in<0>>>,
    stateful<1, 10, inc<1, out<0>, v<0>>, inc<1, out<1>, v<0>>>,
    dv::output<out<0>, out<1>>> {};
struct caller_and_actor : dv::graph<
    arguments<1>,
    stateful<0, 0, inc<0, out<0>, in<0>>>,
    stateful<1, 10, inc<1, out<1>, out<0>>>,
    dv::output<out<0>, out<1>>> {};
struct caller_and_itself : dv::graph<
    arguments<1>,
    stateful<0, 0, inc<0, out<0>, in<0>>, inc<0, out<1>, out<0>>>,
    dv::output<out<0>, out<1>>> {};

}  // namespace

TEST_CASE("test_two_returns_one_reader[single_fetch]") {
    gives<1, two_returns<1>, at<actor<1>, out<0>>, at<actor<1>, out<1>>>(2, {{1}, {1}, {1}}, {{1, 2}, {1, 2}, {1, 2}});
}
TEST_CASE("test_two_returns_two_readers[single_fetch]") {
    gives<1, two_returns<2>, at<actor<1>, out<0>>, at<actor<2>, out<1>>>(3, {{1}, {1}, {1}}, {{1, 2}, {1, 2}, {1, 2}});
}
TEST_CASE("test_inc_two_returns[single_fetch]") {
    gives<1, inc_two_returns, first, at<actor<0>, out<1>>>(1, {{1}, {1}, {1}}, {{1, 2}, {2, 3}, {3, 4}});
}
TEST_CASE("test_two_as_one_return") { gives<1, two_as_one, first>(1, {{1}, {1}, {1}}, {{1, 2}, {1, 2}, {1, 2}}); }

TEST_CASE("test_two_from_three_returns") {
    CHECK(refused<dv::error::wrong_result_count, arguments<1>, dv::let<dv::values<out<0>, out<1>>, return_two_from_three(in<0>)>,
                  dv::output<out<0>, out<1>>>);
}

// A result that nobody reads does not compile, unless the statement says that it is not wanted.
TEST_CASE("TestLeafNode.test_leaf_node_one_actor") {
    CHECK(refused<dv::error::unused, arguments<1>,
                  dv::on<actor<0>, made, dv::let<v<1>, add(v<0>, v<0>)>, dv::let<out<0>, add(v<0>, v<0>)>>, dv::output<out<0>>>);
}
TEST_CASE("TestLeafNode.test_leaf_node_two_actors") {
    CHECK(refused<dv::error::unused, arguments<1>, dv::on<actor<0>, dv::let<v<1>, add(in<0>, in<0>)>, dv::let<out<0>, copy(v<0>)>>,
                  dv::on<actor<1>, made, dv::let<out<1>, copy(v<0>)>>, dv::output<out<0>, out<1>>>);
}
TEST_CASE("TestLeafNode.test_multi_leaf_nodes") {
    CHECK(refused<dv::error::unused, arguments<1>,
                  dv::on<actor<0>, made, dv::let<v<1>, copy(v<0>)>, dv::let<v<2>, copy(in<0>)>, dv::let<out<0>, copy(v<0>)>>,
                  dv::output<out<0>>>);
}
TEST_CASE("TestLeafNode.test_two_returns_first") {
    CHECK(refused<dv::error::unused, arguments<1>, dv::let<dv::values<out<0>, v<0>>, return_two(in<0>)>, dv::output<out<0>>>);
    gives<1, first_of_two, first>(1, {{1}}, {{1}});
}
TEST_CASE("TestLeafNode.test_two_returns_second") {
    CHECK(refused<dv::error::unused, arguments<1>, dv::let<dv::values<v<0>, out<0>>, return_two(in<0>)>, dv::output<out<0>>>);
    gives<1, second_of_two, first>(1, {{1}}, {{2}});
}

TEST_CASE("test_signature_mismatch") {
    CHECK(refused<dv::error::wrong_arity, arguments<1>, dv::let<out<0>, add(in<0>)>, dv::output<out<0>>>);
    CHECK(refused<dv::error::wrong_arity, arguments<1>, dv::let<out<0>, add(in<0>, in<0>, in<0>)>, dv::output<out<0>>>);
}
TEST_CASE("test_missing_input_node") {
    CHECK(refused<dv::error::unused, arguments<2>, dv::let<out<0>, copy(in<0>)>, dv::output<out<0>>>);
}
TEST_CASE("test_dag_errors") {
    CHECK(refused<dv::error::unknown_name, dv::let<out<0>, copy(in<0>)>, dv::output<out<0>>>);
    CHECK(refused<dv::error::outside_role, arguments<1>, dv::on<actor<0>, made>, dv::let<out<0>, copy(v<0>)>, dv::output<out<0>>>);
}

TEST_CASE("test_output_node") {
    gives<1, one_output, first>(1, {{1}, {2}}, {{1}, {2}});
    gives<2, three_outputs, first, at<actor<1>, out<1>>, at<actor<2>, out<2>>>(3, {{1, 2}}, {{1, 2, 1}});
}

TEST_CASE("test_scatter_gather_dag[1]") { gives<1, scatter_gather<1>, first>(1, {{1}, {1}, {1}}, {{1}, {2}, {3}}); }
TEST_CASE("test_scatter_gather_dag[4]") {
    gives<1, scatter_gather<4>, first, at<actor<1>, out<1>>, at<actor<2>, out<2>>, at<actor<3>, out<3>>>(
        4, {{1}, {1}, {1}}, {{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}});
}
TEST_CASE("test_chain_dag[1]") { chains<1>(0); }
TEST_CASE("test_chain_dag[4]") { chains<4>(123); }

TEST_CASE("TestCompositeChannel.test_composite_channel_one_actor") {
    gives<1, one_actor_thrice, first>(1, {{1}, {2}, {3}}, {{4}, {24}, {108}});
}
TEST_CASE("TestCompositeChannel.test_composite_channel_two_actors") {
    gives<1, there_and_back, first>(2, {{1}, {2}, {3}}, {{102}, {309}, {829}});
}
TEST_CASE("TestCompositeChannel.test_composite_channel_multi_output[single_fetch]") {
    gives<1, here_and_there, first, at<actor<1>, out<1>>>(2, {{1}, {3}}, {{2, 101}, {10, 106}});
}
TEST_CASE("TestCompositeChannel.test_intra_process_channel_with_multi_readers[single_fetch]") {
    gives<1, two_readers_here, first, at<actor<0>, out<1>>>(1, {{1}, {2}, {3}}, {{1, 1}, {2, 2}, {3, 3}});
}
TEST_CASE("test_multiple_reads_from_same_actor") {
    gives<1, two_readers_there, at<actor<1>, out<0>>, at<actor<1>, out<1>>>(2, {{1}}, {{11, 12}});
}
TEST_CASE("test_driver_and_actor_as_readers") { gives<1, caller_and_actor, first, at<actor<1>, out<1>>>(2, {{1}}, {{1, 11}}); }
TEST_CASE("test_driver_and_intraprocess_read") { gives<1, caller_and_itself, first, at<actor<0>, out<1>>>(1, {{1}}, {{1, 2}}); }
