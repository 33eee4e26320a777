// Ray's tests of execution schedules, on plans: which operations a role issues in which order, and the values of the same graphs.
#include "actors.hpp"
#include "order.hpp"
#include "support/planner.hpp"

#include <dovetail/plan/make.hpp>

using namespace ray;
using samples::overlapped, samples::sequential;

namespace {

constexpr auto bind_number = [](auto& step, int run) { step.bind(dv::name<in<0>>, static_cast<float>(run + 1)); };

// ---- one actor
struct two_ready : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<0>, dv::let<out<0>, copy(in<0>)>, dv::let<out<1>, copy(in<0>)>>,
    dv::output<out<0>, out<1>>> {};
struct two_ready_the_other_way : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<0>, dv::let<out<1>, copy(in<0>)>, dv::let<out<0>, copy(in<0>)>>,
    dv::output<out<0>, out<1>>> {};
struct chain_of_one : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>, dv::let<out<0>, copy(v<0>)>>,
    dv::output<out<0>>> {};
struct fan_out_of_one : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>, dv::let<out<0>, copy(v<0>)>, dv::let<out<1>, copy(v<0>)>>,
    dv::output<out<0>, out<1>>> {};

// ---- two actors
struct one_task : dv::graph<dv::input<in<0>, number>, dv::on<actor<0>, dv::let<out<0>, copy(in<0>)>>, dv::output<out<0>>> {};
struct sends : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>>,
    dv::on<actor<1>, dv::let<out<0>, copy(v<0>)>>,
    dv::output<out<0>>> {};
struct crossing : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>, dv::let<out<0>, copy(v<1>)>>,
    dv::on<actor<1>, dv::let<v<1>, add(in<0>, in<0>)>, dv::let<out<1>, copy(v<0>)>>,
    dv::output<out<0>, out<1>>> {};
struct ping_pong : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>, dv::let<v<2>, add(v<1>, in<0>)>, dv::let<v<4>, add(v<3>, in<0>)>>,
    dv::on<actor<1>, dv::let<v<1>, add(v<0>, in<0>)>, dv::let<v<3>, add(v<2>, in<0>)>, dv::let<out<0>, add(v<4>, in<0>)>>,
    dv::output<out<0>>> {};

// ---- collectives
struct one_collective : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>>,
    dv::on<actor<1>, dv::let<v<1>, copy(in<0>)>>,
    dv::let<out<0>, all_reduce<sum>(v<0>, v<1>)>,
    dv::output<out<0>>> {};
template <int First, int Second>
struct two_collectives : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>>,
    dv::on<actor<1>, dv::let<v<1>, copy(in<0>)>>,
    dv::on<actor<2>, dv::let<v<2>, copy(in<0>)>>,
    dv::on<actor<3>, dv::let<v<3>, copy(in<0>)>>,
    dv::let<out<First>, all_reduce<sum>(v<2 * First>, v<2 * First + 1>)>,
    dv::let<out<Second>, all_reduce<sum>(v<2 * Second>, v<2 * Second + 1>)>,
    dv::output<out<0>, out<1>>> {};
// Two steps of each worker, a gradient of the gradient, both reduced over all workers.
template <class I>
struct ddp;
template <int... I>
struct ddp<std::integer_sequence<int, I...>> : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<I>, dv::let<w<I, 0>, add(in<0>, in<0>)>, dv::let<w<I, 1>, add(w<I, 0>, w<I, 0>)>>...,
    dv::let<out<0>, all_reduce<sum>(w<I, 0>...)>,
    dv::let<out<1>, all_reduce<sum>(w<I, 1>...)>,
    dv::output<out<0>, out<1>>> {};

// ---- three actors
struct to_two_and_back : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>, dv::let<out<0>, collect(v<1>, v<2>)>>,
    dv::on<actor<1>, dv::let<v<1>, add(v<0>, v<0>)>>,
    dv::on<actor<2>, dv::let<v<2>, multiply(v<0>, v<0>)>>,
    dv::output<out<0>>> {};
struct ring : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>, dv::let<out<0>, copy(v<2>)>>,
    dv::on<actor<1>, dv::let<v<1>, add(in<0>, in<0>)>, dv::let<out<1>, copy(v<0>)>>,
    dv::on<actor<2>, dv::let<v<2>, multiply(in<0>, in<0>)>, dv::let<out<2>, copy(v<1>)>>,
    dv::output<out<0>, out<1>, out<2>>> {};

// ---- nothing leaves an actor, or only once
struct two_alone : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>, dv::let<out<0>, copy(v<0>)>>,
    dv::on<actor<1>, dv::let<v<1>, add(in<0>, in<0>)>, dv::let<out<1>, copy(v<1>)>>,
    dv::output<out<0>, out<1>>> {};
struct at_home_and_away : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<0>, dv::let<v<0>, add(in<0>, in<0>)>, dv::let<out<0>, copy(v<0>)>>,
    dv::on<actor<1>, dv::let<out<1>, copy(v<0>)>>,
    dv::output<out<0>, out<1>>> {};

// Whether a graph computes these outputs, in runs one after the other and in flight.
template <class G, class Check>
void computes(int ranks, Check check) {
    run_overlapped<G>(ranks, bind_number, [&](auto& step, auto& ticket, int rank, int run) {
        check(step, ticket, rank, run, static_cast<float>(run + 1));
    });
}
// The schedule of a worker; its gradients are named after it, and here after nobody.
template <class G, int Worker>
std::string schedule_of_worker() {
    std::string list = order<G, actor<Worker>>();
    const std::string name = "w<" + std::to_string(Worker) + ",";
    for (auto at = list.find(name); at != std::string::npos; at = list.find(name)) list.replace(at, name.size(), "gradient<");
    return list;
}
template <int Workers>
void same_schedule_on_all() {
    using G = ddp<std::make_integer_sequence<int, Workers>>;
    const std::string first = schedule_of_worker<G, 0>();
    CHECK(before(first, "add gradient< 0>", "all_reduce out<0>"));
    CHECK(before(first, "add gradient< 1>", "all_reduce out<1>"));
    CHECK(schedule_of_worker<G, 1>() == first);
    CHECK(schedule_of_worker<G, Workers - 1>() == first);
    computes<G>(Workers, [](auto& step, auto& ticket, int rank, int run, float x) {
        expect<actor<1>, out<0>>(step, ticket, rank, run, {2 * x * Workers});
        expect<actor<Workers - 1>, out<1>>(step, ticket, rank, run, {4 * x * Workers});
    });
}

constexpr auto crossed = [](auto& step, auto& ticket, int rank, int run, float x) {
    expect<actor<0>, out<0>>(step, ticket, rank, run, {2 * x});
    expect<actor<1>, out<1>>(step, ticket, rank, run, {x});
};
constexpr auto went_around = [](auto& step, auto& ticket, int rank, int run, float x) {
    expect<actor<0>, out<0>>(step, ticket, rank, run, {x * x});
    expect<actor<1>, out<1>>(step, ticket, rank, run, {x});
    expect<actor<2>, out<2>>(step, ticket, rank, run, {2 * x});
};
constexpr auto came_back = [](auto& step, auto& ticket, int rank, int run, float x) {
    expect<actor<0>, out<0>>(step, ticket, rank, run, {2 * x, x * x});
};

}  // namespace

TEST_CASE("TestSelectNextNodes.test_two_candidates_on_same_actor") {
    CHECK(order<two_ready, actor<0>>() == "copy out<0>, copy out<1>");
    CHECK(order<two_ready_the_other_way, actor<0>>() == "copy out<1>, copy out<0>");
}

TEST_CASE("TestSelectNextNodes.test_only_one_nccl_write") {
    CHECK(order<sends, actor<0>>() == "copy v<0>, transfer v<0>");
    CHECK(order<sends, actor<1>>() == "transfer v<0>, copy out<0>");
    CHECK(transfers<sends>() == 1);  // one task with two participations, so that neither end is issued without the other
}

TEST_CASE("TestSelectNextNodes.test_two_nccl_writes") {
    const std::string first = "transfer v<0>, transfer v<1>";
    CHECK(communication<crossing, actor<0>>() == first);
    CHECK(communication<crossing, actor<1>>() == first);
    const auto& constant = view<crossing>().plan.order;
    for (int i = 0; i < 20; ++i) {
        const dv::plan::made again = support::make_plan(dv::plan::typed<crossing>::value, overlapped::value);
        CHECK(std::ranges::equal(again.plan.order, constant));
    }
}

TEST_CASE("TestSelectNextNodes.test_only_one_nccl_collective") {
    CHECK(tasks<one_collective>() == "copy v<0>, copy v<1>, all_reduce out<0>");
    CHECK(order<one_collective, actor<0>>() == "copy v<0>, all_reduce out<0>");
    CHECK(order<one_collective, actor<1>>() == "copy v<1>, all_reduce out<0>");
}

TEST_CASE("TestSelectNextNodes.test_two_nccl_collectives") {
    CHECK(before(tasks<two_collectives<0, 1>>(), "all_reduce out<0>", "all_reduce out<1>"));
    CHECK(before(tasks<two_collectives<1, 0>>(), "all_reduce out<1>", "all_reduce out<0>"));
    CHECK(order<two_collectives<0, 1>, actor<0>>() == "copy v<0>, all_reduce out<0>");
    CHECK(order<two_collectives<0, 1>, actor<3>>() == "copy v<3>, all_reduce out<1>");
}

// Ray's edges between the tasks of an actor in the order in which they are bound have no counterpart: only data order operations.
TEST_CASE("TestBuildDAGNodeOperationGraph.test_edges_between_read_compute_write") {
    CHECK(tasks<one_task>() == "copy out<0>");
    CHECK(edges<one_task>().empty());
    REQUIRE(view<one_task>().edges.size() == 1);  // from the input, Ray's READ
    CHECK(view<one_task>().program.tasks[view<one_task>().edges[0].from].kind == dv::op_kind::input);
}

TEST_CASE("TestBuildDAGNodeOperationGraph.test_edge_between_writer_and_reader") {
    CHECK(edges<sends>() == "copy v<0> -> transfer v<0>, transfer v<0> -> copy out<0>");
}

TEST_CASE("TestBuildDAGNodeOperationGraph.test_edge_between_compute_nodes") {
    CHECK(edges<chain_of_one>() == "copy v<0> -> copy out<0>");
}

TEST_CASE("TestBuildDAGNodeOperationGraph.test_two_actors") {
    CHECK(edges<crossing>() == "add v<1> -> transfer v<1>, copy v<0> -> transfer v<0>, "
                               "transfer v<0> -> copy out<1>, transfer v<1> -> copy out<0>");
}

TEST_CASE("TestGenerateActorToExecutionSchedule.test_single_actor_1") {
    CHECK(order<chain_of_one, actor<0>>() == "copy v<0>, copy out<0>");
}

TEST_CASE("TestGenerateActorToExecutionSchedule.test_single_actor_2") {
    CHECK(order<fan_out_of_one, actor<0>>() == "copy v<0>, copy out<0>, copy out<1>");
}

// Without a transport between them: both actors on one rank.
TEST_CASE("TestGenerateActorToExecutionSchedule.test_two_actors_no_nccl") {
    using G = dv::single_rank<crossing>;
    CHECK(transfers<G>() == 0);
    CHECK(before(order<G, actor<0>, sequential>(), "copy v<0>", "copy out<0>"));
    CHECK(before(order<G, actor<0>, sequential>(), "add v<1>", "copy out<1>"));
}

TEST_CASE("TestGenerateActorToExecutionSchedule.test_two_actors_with_nccl") {
    CHECK(order<crossing, actor<0>>() == "copy v<0>, transfer v<0>, transfer v<1>, copy out<0>");
    // The second actor receives before it sends its own value.
    CHECK(before(order<crossing, actor<1>>(), "transfer v<0>", "transfer v<1>"));
    CHECK(before(order<crossing, actor<1>>(), "add v<1>", "transfer v<1>"));
}

TEST_CASE("test_three_actors_with_nccl_1") {
    CHECK(order<to_two_and_back, actor<0>>()
          == "copy v<0>, transfer v<0>, transfer v<0>, transfer v<1>, transfer v<2>, collect out<0>");
    CHECK(order<to_two_and_back, actor<1>>() == "transfer v<0>, add v<1>, transfer v<1>");
    CHECK(order<to_two_and_back, actor<2>>() == "transfer v<0>, multiply v<2>, transfer v<2>");
    computes<to_two_and_back>(3, came_back);
}

TEST_CASE("test_three_actors_with_nccl_2[single_fetch]") {
    CHECK(order<ring, actor<0>>() == "copy v<0>, transfer v<0>, transfer v<2>, copy out<0>");
    // Both ends of each transfer follow the one order.
    CHECK(before(communication<ring, actor<1>>(), "transfer v<0>", "transfer v<1>")
          == before(tasks<ring>(), "transfer v<0>", "transfer v<1>"));
    CHECK(before(communication<ring, actor<2>>(), "transfer v<1>", "transfer v<2>")
          == before(tasks<ring>(), "transfer v<1>", "transfer v<2>"));
    computes<ring>(3, went_around);
}

TEST_CASE("test_exec_schedules_ddp[2]") { same_schedule_on_all<2>(); }
TEST_CASE("test_exec_schedules_ddp[4]") { same_schedule_on_all<4>(); }

TEST_CASE("test_valid_graph_2_actors_1[auto, nccl]") { computes<crossing>(2, crossed); }
TEST_CASE("test_valid_graph_2_actors_2") {
    CHECK(transfers<ping_pong>() == 5);
    computes<ping_pong>(2, [](auto& step, auto& ticket, int rank, int run, float x) {
        expect<actor<1>, out<0>>(step, ticket, rank, run, {6 * x});
    });
}
TEST_CASE("test_valid_graph_3_actors_1[auto, nccl]") { computes<ring>(3, went_around); }
TEST_CASE("test_valid_graph_3_actors_2") { computes<to_two_and_back>(3, came_back); }

// Ray refuses these with NCCL from an actor to itself. Within a role there is no channel, so that there is nothing to refuse.
TEST_CASE("test_invalid_graph_1_actor[auto, nccl]") {
    CHECK(transfers<chain_of_one>() == 0);
    computes<chain_of_one>(1, [](auto& step, auto& ticket, int rank, int run, float x) {
        expect<actor<0>, out<0>>(step, ticket, rank, run, {x});
    });
}
TEST_CASE("test_invalid_graph_2_actors_1[auto, nccl]") {
    CHECK(transfers<two_alone>() == 0);
    computes<two_alone>(2, [](auto& step, auto& ticket, int rank, int run, float x) {
        expect<actor<0>, out<0>>(step, ticket, rank, run, {x});
        expect<actor<1>, out<1>>(step, ticket, rank, run, {2 * x});
    });
}
TEST_CASE("test_invalid_graph_2_actors_2[auto, nccl]") {
    CHECK(transfers<at_home_and_away>() == 1);
    computes<at_home_and_away>(2, [](auto& step, auto& ticket, int rank, int run, float x) {
        expect<actor<0>, out<0>>(step, ticket, rank, run, {2 * x});
        expect<actor<1>, out<1>>(step, ticket, rank, run, {2 * x});
    });
}
