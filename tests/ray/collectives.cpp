// Ray's tests of collectives: values, beside other communication; the communicators that they need; and mistakes, as types of errors.
#include "actors.hpp"
#include "order.hpp"

#include <set>

using namespace ray;

namespace {

constexpr auto each_its_own = [](auto& step, int run) {
    step.bind(dv::name<in<0>>, static_cast<float>(run)).bind(dv::name<in<1>>, static_cast<float>(run + 1));
};

// Each of two workers fills a tensor with its number.
template <int I, class Tensor> using filled = dv::on<actor<I>, dv::input<in<I>, number>, dv::let<v<I>, fill<Tensor>(in<I>)>>;
template <int Size>
struct all_reduced : dv::graph<
    filled<0, dv::tensor<dv::half, Size>>,
    filled<1, dv::tensor<dv::half, Size>>,
    dv::let<v<2>, all_reduce<sum>(v<0>, v<1>)>,
    dv::on<actor<0>, dv::let<out<0>, copy(v<2>)>>,
    dv::on<actor<1>, dv::let<out<1>, copy(v<2>)>>,
    dv::output<out<0>, out<1>>> {};
template <int Size>
void all_reduces_size() {
    run_overlapped<all_reduced<Size>>(2, each_its_own, [](auto& step, auto& ticket, int rank, int run) {
        const auto check = [&](const std::vector<dv::half>& got) {
            floats plain;
            for (const dv::half h : got) plain.push_back(float{h});
            support::expect(plain, floats(Size, static_cast<float>(2 * run + 1)), "sum", rank, run);
        };
        if (step.is(dv::name<actor<0>>)) check(ticket.read(dv::name<out<0>>).host());
        else check(ticket.read(dv::name<out<1>>).host());
    });
}

// The sum, read by one worker's task, by an actor that takes no part, and by the caller.
struct read_in_part : dv::graph<
    filled<0, number>,
    filled<1, number>,
    dv::let<out<0>, all_reduce<sum>(v<0>, v<1>)>,
    dv::on<actor<0>, dv::let<out<1>, add(out<0>, out<0>)>>,
    dv::on<actor<2>, dv::let<out<2>, copy(out<0>)>>,
    dv::output<out<0>, out<1>, out<2>>> {};

// A communicator of Ray's users adds one to every sum; here an operation behind it does.
struct plus_one {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> to) {
        for (std::int64_t i = 0; i < X::size; ++i) to[i] = from[i] + 1;
    }
};
struct one_more_than_the_sum : dv::graph<
    filled<0, number>,
    filled<1, number>,
    dv::let<v<2>, all_reduce<sum>(v<0>, v<1>)>,
    dv::on<actor<0>, dv::let<out<0>, plus_one(v<2>)>>,
    dv::on<actor<1>, dv::let<out<1>, plus_one(v<2>)>>,
    dv::output<out<0>, out<1>>> {};

// x of one worker and y of the other are reduced while the first sends t.
struct beside_a_send : dv::graph<
    dv::input<in<0>, number>,
    dv::on<actor<0>, dv::let<w<0, 0>, copy(in<0>)>, dv::let<w<0, 1>, multiply(in<0>, in<0>)>>,
    dv::on<actor<1>, dv::let<w<1, 0>, add(in<0>, in<0>)>, dv::let<out<1>, copy(w<0, 1>)>>,
    dv::let<out<0>, all_reduce<sum>(w<0, 0>, w<1, 0>)>,
    dv::output<out<0>, out<1>>> {};

// Of two results of a task of each worker one is reduced.
struct with_double {
    static constexpr dv::results result(dv::tensor_type t) { return {t, t}; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> same, dv::out<X> doubled) {
        for (std::int64_t i = 0; i < X::size; ++i) same[i] = from[i], doubled[i] = 2 * from[i];
    }
};
struct one_of_two_results : dv::graph<
    dv::on<actor<0>, dv::input<in<0>, number>, dv::let<dv::values<v<0>, out<1>>, with_double(in<0>)>>,
    dv::on<actor<1>, dv::input<in<1>, number>, dv::let<dv::values<out<2>, v<1>>, with_double(in<1>)>>,
    dv::let<out<0>, all_reduce<sum>(v<0>, v<1>)>,
    dv::output<out<0>, out<1>, out<2>>> {};

// ---- communicators
template <int I> using made = dv::on<actor<I>, dv::let<v<I>, copy(in<0>)>>;
struct two_sets : dv::graph<
    dv::input<in<0>, number>,
    dv::repeat<made, 4>,
    dv::let<out<0>, all_reduce<sum>(v<0>, v<1>)>,
    dv::let<out<1>, all_reduce<sum>(v<2>, v<3>)>,
    dv::output<out<0>, out<1>>> {};
struct one_set_twice : dv::graph<
    dv::input<in<0>, number>,
    dv::repeat<made, 2>,
    dv::let<v<2>, all_reduce<sum>(v<0>, v<1>)>,
    dv::on<actor<0>, dv::let<w<0, 0>, copy(v<2>)>>,
    dv::on<actor<1>, dv::let<w<1, 0>, copy(v<2>)>>,
    dv::let<out<0>, all_reduce<sum>(w<0, 0>, w<1, 0>)>,
    dv::output<out<0>>> {};
struct reduced_and_exchanged : dv::graph<
    dv::input<in<0>, number>,
    dv::repeat<made, 2>,
    dv::let<v<2>, all_reduce<sum>(v<0>, v<1>)>,
    dv::on<actor<0>, dv::let<w<0, 0>, copy(v<2>)>, dv::let<out<0>, copy(w<1, 0>)>>,
    dv::on<actor<1>, dv::let<w<1, 0>, add(v<2>, v<2>)>, dv::let<out<1>, copy(w<0, 0>)>>,
    dv::output<out<0>, out<1>>> {};

// The roles of each communicator of collectives, in alphabetical order.
template <class G>
std::set<std::string> communicators() {
    std::set<std::string> all;
    const auto& of = view<G>();
    for (const dv::ir::member& m : of.program.members) {
        if (m.communicator < 0 || m.kind == dv::op_kind::transfer) continue;
        const dv::ir::communicator& c = of.program.communicators[m.communicator];
        std::string roles;
        for (int i = 0; i < c.roles; ++i) append(roles, of.role_name(of.program.communicator_roles[c.first_role + i]));
        all.insert(roles);
    }
    return all;
}

// What Ray tests over NCCL and again over its communicator of CPUs.
void reads_in_part() {
    run_overlapped<read_in_part>(3, each_its_own, [](auto& step, auto& ticket, int rank, int run) {
        const float total = static_cast<float>(2 * run + 1);
        ray::expect<actor<0>, out<0>>(step, ticket, rank, run, {total});
        ray::expect<actor<1>, out<0>>(step, ticket, rank, run, {total});
        ray::expect<actor<0>, out<1>>(step, ticket, rank, run, {2 * total});
        ray::expect<actor<2>, out<2>>(step, ticket, rank, run, {total});
    });
}
void refuses_another_shape() {
    using other_shape = dv::tensor<float, 2>;
    CHECK(refused<dv::error::member_mismatch, filled<0, number>, filled<1, other_shape>, dv::let<out<0>, all_reduce<sum>(v<0>, v<1>)>,
                  dv::output<out<0>>>);
}
void keeps_one_order() {
    // The two ranks issue the collective and the transfer in one order.
    CHECK(communication<beside_a_send, actor<0>>() == communication<beside_a_send, actor<1>>());
    run_overlapped<beside_a_send>(
        2, [](auto& step, int run) { step.bind(dv::name<in<0>>, static_cast<float>(run + 10)); },
        [](auto& step, auto& ticket, int rank, int run) {
            const float x = static_cast<float>(run + 10);
            ray::expect<actor<0>, out<0>>(step, ticket, rank, run, {3 * x});
            ray::expect<actor<1>, out<0>>(step, ticket, rank, run, {3 * x});
            ray::expect<actor<1>, out<1>>(step, ticket, rank, run, {x * x});
        });
}
void refuses_an_actor_twice() {
    // Two values of one actor; one value twice.
    CHECK(refused<dv::error::role_twice, dv::input<in<0>, number>, dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>, dv::let<v<1>, copy(in<0>)>>,
                  dv::let<out<0>, all_reduce<sum>(v<0>, v<1>)>, dv::output<out<0>>>);
    CHECK(refused<dv::error::role_twice, dv::input<in<0>, number>, dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>>,
                  dv::let<out<0>, all_reduce<sum>(v<0>, v<0>)>, dv::output<out<0>>>);
}
void refuses_too_few_ranks() {
    const auto making = [](int ranks) {
        return support::message([&] { dv::host::world{ranks}.run([](auto& rank) { dv::executor<read_in_part> step{rank}; }); });
    };
    support::has(making(2), "the world has 2 ranks and the graph needs 3");
    CHECK(making(3) == "nothing thrown");
}

}  // namespace

TEST_CASE("test_torch_tensor_nccl_all_reduce") {
    all_reduces_size<10>();
    all_reduces_size<20>();
    all_reduces_size<30>();
}

TEST_CASE("test_torch_tensor_nccl_all_reduce_get_partial") { reads_in_part(); }

TEST_CASE("test_torch_tensor_nccl_all_reduce_wrong_shape") { refuses_another_shape(); }

TEST_CASE("test_torch_tensor_nccl_all_reduce_custom_comm") {
    run_overlapped<one_more_than_the_sum>(2, each_its_own, [](auto& step, auto& ticket, int rank, int run) {
        ray::expect<actor<0>, out<0>>(step, ticket, rank, run, {static_cast<float>(2 * run + 2)});
        ray::expect<actor<1>, out<1>>(step, ticket, rank, run, {static_cast<float>(2 * run + 2)});
    });
}

TEST_CASE("test_torch_tensor_nccl_all_reduce_scheduling") { keeps_one_order(); }

TEST_CASE("test_nccl_all_reduce_with_class_method_output_node") {
    run_overlapped<one_of_two_results>(2, each_its_own, [](auto& step, auto& ticket, int rank, int run) {
        const float x = static_cast<float>(run), y = static_cast<float>(run + 1);
        ray::expect<actor<0>, out<0>>(step, ticket, rank, run, {x + 2 * y});
        ray::expect<actor<1>, out<0>>(step, ticket, rank, run, {x + 2 * y});
        ray::expect<actor<0>, out<1>>(step, ticket, rank, run, {2 * x});
        ray::expect<actor<1>, out<2>>(step, ticket, rank, run, {y});
    });
}

TEST_CASE("test_all_reduce_duplicate_actors") { refuses_an_actor_twice(); }

TEST_CASE("test_all_reduce_custom_comm_wrong_actors") { refuses_too_few_ranks(); }

TEST_CASE("test_allreduce_basic") { all_reduces_size<10>(); }
TEST_CASE("test_allreduce_get_partial") { reads_in_part(); }
TEST_CASE("test_allreduce_wrong_shape") { refuses_another_shape(); }
TEST_CASE("test_allreduce_scheduling") { keeps_one_order(); }
TEST_CASE("test_allreduce_duplicate_actors") { refuses_an_actor_twice(); }
TEST_CASE("test_allreduce_wrong_actors") { refuses_too_few_ranks(); }

TEST_CASE("test_comm_all_reduces") {
    CHECK(communicators<two_sets>() == std::set<std::string>{"actor<0>, actor<1>", "actor<2>, actor<3>"});
}

TEST_CASE("test_comm_deduplicate_all_reduces") {
    CHECK(communicators<one_set_twice>() == std::set<std::string>{"actor<0>, actor<1>"});
    CHECK(view<one_set_twice>().program.communicators.size() == 1);
}

TEST_CASE("test_comm_deduplicate_p2p_and_collective") {
    // Transfers, in either direction, use the communicator of the world, which is this one.
    CHECK(transfers<reduced_and_exchanged>() == 2);
    CHECK(communicators<reduced_and_exchanged>() == std::set<std::string>{"actor<0>, actor<1>"});
    run_overlapped<reduced_and_exchanged>(
        2, [](auto& step, int run) { step.bind(dv::name<in<0>>, static_cast<float>(run + 10)); },
        [](auto& step, auto& ticket, int rank, int run) {
            const float x = static_cast<float>(run + 10);
            ray::expect<actor<0>, out<0>>(step, ticket, rank, run, {4 * x});
            ray::expect<actor<1>, out<1>>(step, ticket, rank, run, {2 * x});
        });
}
