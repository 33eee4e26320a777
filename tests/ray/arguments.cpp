// Ray's tests of several arguments and results, of actors whose state advances with every call, and of the shapes of small graphs.
//
// Given and wanted values are those of Ray's tests. Inputs are bound by name, in any order: arguments by position and by keyword are alike.
#include "actors.hpp"

using namespace ray;

namespace {

// The method `inc_two`: adds two arguments to what the actor has.
template <int Actor, class Result, class X, class Y>
using inc_two = dv::group<dv::update<total<Actor>, add(add(total<Actor>, X), Y)>, dv::let<Result, copy(total<Actor>)>>;
// The method `double_and_inc`.
template <int Actor, class Result, class X>
using double_and_inc = dv::group<dv::update<total<Actor>, add(total<Actor>, add(total<Actor>, X))>, dv::let<Result, copy(total<Actor>)>>;

using first = at<actor<0>, out<0>>;

// ---- several arguments; actor 2 collects
template <class... S> using collector = dv::on<actor<2>, S...>;
struct two_branches : dv::graph<
    arguments<2>,
    stateful<0, 0, inc<0, v<0>, in<0>>>,
    stateful<1, 0, inc<1, v<1>, in<1>>>,
    collector<dv::let<out<0>, collect(v<1>, v<0>)>>,
    dv::output<out<0>>> {};
struct read_twice : dv::graph<arguments<2>, dv::on<actor<0>, dv::let<out<0>, collect(in<0>, in<1>, in<0>)>>, dv::output<out<0>>> {};
struct swapped : dv::graph<arguments<2>, dv::on<actor<0>, dv::let<out<0>, collect(in<1>, in<0>)>>, dv::output<out<0>>> {};
template <bool BranchFirst>
struct branch_and_argument : dv::graph<
    arguments<2>,
    stateful<0, 0, inc<0, v<0>, in<0>>>,
    collector<dv::when<BranchFirst, dv::let<out<0>, collect(v<0>, in<1>)>>, dv::when<!BranchFirst, dv::let<out<0>, collect(in<1>, v<0>)>>>,
    dv::output<out<0>>> {};
struct two_of_one_actor : dv::graph<
    arguments<2>,
    stateful<0, 0, inc<0, out<0>, in<0>>, inc<0, out<1>, in<1>>>,
    dv::output<out<0>, out<1>>> {};
struct branches_and_argument : dv::graph<
    arguments<3>,
    stateful<0, 0, inc<0, v<0>, in<0>>>,
    stateful<1, 0, inc<1, v<1>, in<1>>>,
    collector<dv::let<out<0>, collect(v<1>, in<2>, v<0>)>>,
    dv::output<out<0>>> {};
using five = dv::tensor<float, 5>;
struct tensors : dv::graph<
    dv::input<in<0>, five>,
    dv::input<in<1>, five>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>>,
    dv::on<actor<1>, dv::let<v<1>, copy(in<1>)>>,
    collector<dv::let<out<0>, copy(v<1>)>, dv::let<out<1>, copy(v<0>)>>,
    dv::output<out<0>, out<1>>> {};

// ---- an input bound to several methods
struct same_input : dv::graph<
    arguments<1>,
    stateful<0, 0, inc<0, out<0>, in<0>>, inc<0, out<1>, in<0>>>,
    dv::output<out<0>, out<1>>> {};
struct same_argument : dv::graph<
    arguments<1>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>>,
    stateful<1, 0, inc<1, out<0>, v<0>>, inc<1, out<1>, v<0>>>,
    dv::output<out<0>, out<1>>> {};
struct same_constant : dv::graph<
    arguments<1>,
    dv::on<actor<0>, starts_with<0>, dv::state<v<9>, number, constant<1>>, inc_two<0, v<0>, in<0>, v<9>>, inc_two<0, out<0>, v<0>, v<9>>>,
    dv::output<out<0>>> {};
struct regular_argument : dv::graph<
    arguments<1>,
    dv::on<actor<0>, starts_with<0>, dv::state<v<9>, number, constant<2>>, inc_two<0, out<0>, v<9>, in<0>>>,
    dv::output<out<0>>> {};
struct mixed_input : dv::graph<
    arguments<1>,
    stateful<0, 0, inc<0, out<0>, in<0>>, inc<0, out<1>, in<0>>>,
    stateful<1, 0, inc<1, out<2>, in<0>>>,
    dv::output<out<0>, out<1>, out<2>>> {};
template <int Arguments, class... Calls>
struct collected : dv::graph<
    arguments<Arguments>,
    stateful<0, 0, Calls...>,
    collector<dv::let<out<0>, collect(v<0>, v<1>)>>,
    dv::output<out<0>>> {};
struct three_collected : dv::graph<
    arguments<2>,
    stateful<0, 0, inc<0, v<0>, in<0>>, inc<0, v<1>, in<0>>, inc<0, v<2>, in<1>>>,
    collector<dv::let<out<0>, collect(v<0>, v<1>, v<2>)>>,
    dv::output<out<0>>> {};
struct one_of_two_arguments : dv::graph<arguments<2>, stateful<0, 0, inc_two<0, out<0>, in<0>, in<1>>>, dv::output<out<0>>> {};
// Of two actors each calls `inc` on the input and `double_and_inc` on what the other has made, in the order in which they are written.
struct calls_in_order : dv::graph<
    arguments<1>,
    stateful<0, 0, inc<0, v<0>, in<0>>, double_and_inc<0, out<0>, v<1>>>,
    stateful<1, 0, double_and_inc<1, out<1>, v<0>>, inc<1, v<1>, in<0>>>,
    dv::output<out<0>, out<1>>> {};

}  // namespace

TEST_CASE("TestMultiArgs.test_multi_args_basic") { gives<2, two_branches, at<actor<2>, out<0>>>(3, {{2, 3}}, {{3, 2}}); }

TEST_CASE("TestMultiArgs.test_multi_args_single_actor") {
    gives<2, read_twice, first>(1, {{0, 1}, {1, 2}, {2, 3}}, {{0, 1, 0}, {1, 2, 1}, {2, 3, 2}});
    // Too few arguments.
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<read_twice> step{rank};
        CHECK_THROWS_AS(step.run(), dv::binding_error);
        step.bind(dv::name<in<0>>, 2.0f);
        support::has(support::message([&] { step.run(); }), "input `in<1>` is not bound on rank 0");
        step.bind(dv::name<in<1>>, 3.0f);
        CHECK(step.run().read(dv::name<out<0>>).host() == floats{2, 3, 2});
    });
}

TEST_CASE("TestMultiArgs.test_multi_args_branch") {
    gives<2, branch_and_argument<true>, at<actor<2>, out<0>>>(2, {{2, 3}}, {{2, 3}});
}
TEST_CASE("TestMultiArgs.test_multi_args_same_actor") {
    gives<2, two_of_one_actor, first, at<actor<0>, out<1>>>(1, {{1, 2}}, {{1, 3}});
}
TEST_CASE("TestMultiArgs.test_kwargs_basic") { gives<2, two_branches, at<actor<2>, out<0>>>(3, {{2, 3}}, {{3, 2}}); }
TEST_CASE("TestMultiArgs.test_kwargs_single_actor") { gives<2, swapped, first>(1, {{2, 3}, {2, 3}, {2, 3}}, {{3, 2}, {3, 2}, {3, 2}}); }
TEST_CASE("TestMultiArgs.test_kwargs_branch") {
    gives<2, branch_and_argument<false>, at<actor<2>, out<0>>>(2, {{2, 3}}, {{3, 2}});
}
TEST_CASE("TestMultiArgs.test_multi_args_and_kwargs") {
    gives<3, branches_and_argument, at<actor<2>, out<0>>>(3, {{2, 3, 4}}, {{3, 4, 2}});
}
TEST_CASE("TestMultiArgs.test_multi_args_and_torch_type") {
    const floats zero(5, 0.0f), one(5, 1.0f);
    run_overlapped<tensors>(
        3, [&](auto& step, int) { step.bind(dv::name<in<1>>, one).bind(dv::name<in<0>>, zero); },
        [&](auto& step, auto& ticket, int rank, int run) {
            ray::expect<actor<2>, out<0>>(step, ticket, rank, run, one);
            ray::expect<actor<2>, out<1>>(step, ticket, rank, run, zero);
        });
}

TEST_CASE("test_actor_method_bind_same_input") {
    gives<1, same_input, first, at<actor<0>, out<1>>>(1, {{0}, {1}, {2}}, {{0, 0}, {1, 2}, {4, 6}});
}
TEST_CASE("test_actor_method_bind_same_input_attr") {
    gives<1, same_input, first, at<actor<0>, out<1>>>(1, {{1}, {2}, {3}}, {{1, 2}, {4, 6}, {9, 12}});
}
TEST_CASE("test_actor_method_bind_diff_kwargs_input_attr") {
    gives<2, collected<2, inc<0, v<0>, in<1>>, inc<0, v<1>, in<0>>>, at<actor<2>, out<0>>>(2, {{1, 0}, {2, 1}, {3, 2}},
                                                                                         {{0, 1}, {2, 4}, {6, 9}});
}
TEST_CASE("test_actor_method_bind_diff_input_attr_1") {
    gives<2, collected<2, inc<0, v<0>, in<0>>, inc<0, v<1>, in<1>>>, at<actor<2>, out<0>>>(2, {{0, 1}, {1, 2}, {2, 3}},
                                                                                         {{0, 1}, {2, 4}, {6, 9}});
}
TEST_CASE("test_actor_method_bind_diff_input_attr_2") {
    gives<2, three_collected, at<actor<2>, out<0>>>(2, {{0, 1}, {1, 2}, {2, 3}}, {{0, 0, 1}, {2, 3, 5}, {7, 9, 12}});
}
TEST_CASE("test_actor_method_bind_diff_input_attr_3") {
    gives<2, one_of_two_arguments, first>(1, {{0, 1}, {1, 2}, {2, 3}}, {{1}, {4}, {9}});
}
TEST_CASE("test_actor_method_bind_diff_input_attr_4") {
    gives<3, collected<3, inc_two<0, v<0>, in<0>, in<1>>, inc<0, v<1>, in<2>>>, at<actor<2>, out<0>>>(2, {{0, 1, 2}, {1, 2, 3}, {2, 3, 4}},
                                                                                                    {{1, 3}, {6, 9}, {14, 18}});
}
TEST_CASE("test_actor_method_bind_diff_input_attr_5") {
    gives<3, collected<3, inc_two<0, v<0>, in<0>, in<1>>, inc_two<0, v<1>, in<2>, in<0>>>, at<actor<2>, out<0>>>(
        2, {{0, 1, 2}, {1, 2, 3}, {2, 3, 4}}, {{1, 3}, {6, 10}, {15, 21}});
}
TEST_CASE("test_actor_method_bind_same_arg") {
    gives<1, same_argument, at<actor<1>, out<0>>, at<actor<1>, out<1>>>(2, {{0}, {1}, {2}}, {{0, 0}, {1, 2}, {4, 6}});
}
TEST_CASE("test_actor_method_bind_same_constant") { gives<1, same_constant, first>(1, {{1}}, {{5}}); }
TEST_CASE("test_mixed_bind_same_input") {
    gives<1, mixed_input, first, at<actor<0>, out<1>>, at<actor<1>, out<2>>>(2, {{0}, {1}, {2}}, {{0, 0, 0}, {1, 2, 1}, {4, 6, 3}});
}
TEST_CASE("test_regular_args") { gives<1, regular_argument, first>(1, {{1}, {1}, {1}}, {{3}, {6}, {9}}); }
TEST_CASE("test_actor_methods_execution_order") {
    gives<1, calls_in_order, first, at<actor<1>, out<1>>>(2, {{1}}, {{4, 1}});
}
