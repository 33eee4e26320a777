// Ray's tests of what fails or ends: tasks that throw, actors that leave, limits of waiting, runs beyond those in flight, and results that
// are dropped.
//
// In Ray an exception of a task is a result of its run, and the next run is as any other. Here it ends all ranks, each of which is told of
// it; the world then runs again, with new executors.
#include "actors.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

using namespace ray;
using support::has, support::message;

namespace {

using clock = std::chrono::steady_clock;

struct fail_if_even {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> to) {
        if (static_cast<int>(from[0]) % 2 == 0) throw std::invalid_argument{"x is even"};
        to[0] = from[0];
    }
};
// A slow task, which ends when the gate is opened.
std::atomic<bool> gate = true;
std::atomic<int> ended = 0;
struct gated {
    static constexpr dv::tensor_type result(dv::tensor_type t) { return t; }
    template <class X>
    static void launch(dv::host::stream, dv::in<X> from, dv::out<X> to) {
        for (const auto start = clock::now(); !gate && clock::now() - start < 30s;) std::this_thread::sleep_for(1ms);
        ++ended;
        to[0] = from[0];
    }
};

struct fails_alone : dv::graph<arguments<1>, dv::on<actor<0>, dv::let<out<0>, fail_if_even(in<0>)>>, dv::output<out<0>>> {};
struct fails_in_front : dv::graph<
    arguments<1>,
    dv::on<actor<0>, dv::let<v<0>, fail_if_even(in<0>)>>,
    dv::on<actor<1>, dv::let<out<0>, add(v<0>, v<0>)>>,
    dv::output<out<0>>> {};
struct fails_twice : dv::graph<
    arguments<1>,
    dv::on<actor<0>, dv::let<out<0>, fail_if_even(in<0>)>>,
    dv::on<actor<1>, dv::let<out<1>, fail_if_even(in<0>)>>,
    dv::output<out<0>, out<1>>> {};
struct fails_twice_on_one : dv::graph<
    arguments<1>,
    dv::on<actor<0>, dv::let<out<0>, fail_if_even(in<0>)>, dv::let<out<1>, fail_if_even(in<0>)>>,
    dv::output<out<0>, out<1>>> {};
struct fails_before_slow : dv::graph<
    arguments<1>,
    dv::on<actor<0>, dv::let<out<0>, fail_if_even(in<0>)>, dv::let<out<1>, gated(in<0>)>>,
    dv::output<out<0>, out<1>>> {};
struct fails_beside_slow : dv::graph<
    arguments<1>,
    dv::on<actor<0>, dv::let<out<0>, gated(in<0>)>>,
    dv::on<actor<1>, dv::let<out<1>, fail_if_even(in<0>)>>,
    dv::output<out<0>, out<1>>> {};
struct fails_between_slow : dv::graph<
    arguments<1>,
    dv::on<actor<0>, dv::let<out<0>, gated(in<0>)>>,
    dv::on<actor<1>, dv::let<out<1>, fail_if_even(in<0>)>>,
    dv::on<actor<2>, dv::let<out<2>, gated(in<0>)>>,
    dv::output<out<0>, out<1>, out<2>>> {};
struct slow : dv::graph<arguments<1>, dv::on<actor<0>, dv::let<out<0>, gated(in<0>)>>, dv::output<out<0>>> {};
struct with_state : dv::graph<arguments<1>, stateful<0, 0, inc<0, out<0>, in<0>>>, dv::output<out<0>>> {};
struct two_outputs : dv::graph<
    arguments<1>,
    stateful<0, 0, inc<0, out<0>, in<0>>, inc<0, out<1>, in<0>>>,
    dv::output<out<0>, out<1>>> {};

// What each rank is told of a run with an even argument, while slow tasks wait; and then of a second run of the same executor.
struct told {
    std::vector<std::string> text, again;
    int ended_before = 0;  // slow tasks, when the last rank was told
};
template <class G, class O = samples::overlapped>
told run_with_even(dv::host::world& world, int ranks) {
    told all{std::vector<std::string>(static_cast<std::size_t>(ranks)), std::vector<std::string>(static_cast<std::size_t>(ranks)), 0};
    gate = false;
    ended = 0;
    std::atomic<int> were_told = 0;
    world.run([&](auto& rank) {
        const auto at = static_cast<std::size_t>(rank.index());
        dv::executor<G, O> step{rank, 60s};
        step.bind(dv::name<in<0>>, 6.0f);
        all.text[at] = message([&] { step.run().wait(); });
        all.again[at] = message([&] { step.run().wait(); });
        if (++were_told == ranks) {
            all.ended_before = ended;
            gate = true;
        }
        for (const auto start = clock::now(); !gate && clock::now() - start < 30s;) std::this_thread::sleep_for(1ms);
    });
    return all;
}
// All are told what happened where, before slow tasks end; again when they go on with the executor; and new executors of the world run.
template <class G, class... Outputs>
void fails_fast(int ranks, const std::string& where, const floats& wanted) {
    dv::host::world world{ranks};
    const told all = run_with_even<G>(world, ranks);
    CHECK(all.ended_before == 0);
    for (const auto* list : {&all.text, &all.again})
        for (const std::string& text : *list) {
            has(text, "operation `fail_if_even` of `" + where);
            has(text, "x is even");
        }
    world.run([&](auto& rank) {
        dv::executor<G, samples::overlapped> step{rank, 60s};
        for (int run = 0; run < 3; ++run) {
            const auto ticket = step.bind(dv::name<in<0>>, 1.0f).run();
            std::size_t next = 0;
            (Outputs::check(step, ticket, rank.index(), run, wanted, next), ...);
        }
    });
}
using first = at<actor<0>, out<0>>;

// An actor that fails or leaves after some runs. The others are told; a new graph runs on them.
template <int I> using called = stateful<I, 0, inc<I, out<I>, in<0>>>;
template <int N>
struct many_actors : dv::graph<arguments<1>, dv::repeat<called, N>, dv::output<dv::all<N, out>>> {};
struct last_fails : dv::graph<
    arguments<1>,
    dv::repeat<called, 3>,
    dv::on<actor<3>, dv::let<out<3>, fail_if_even(in<0>)>>,
    dv::output<dv::all<4, out>>> {};
struct chain_fails : dv::graph<
    arguments<1>,
    dv::on<actor<0>, dv::let<v<0>, copy(in<0>)>>,
    dv::on<actor<1>, dv::let<v<1>, fail_if_even(v<0>)>>,
    dv::on<actor<2>, dv::let<out<0>, copy(v<1>)>>,
    dv::output<out<0>>> {};

void three_go_on(dv::host::world world = dv::host::world{3}) {
    world.run([](auto& rank) {
        dv::executor<many_actors<3>> step{rank, 60s};
        step.bind(dv::name<in<0>>, 1.0f);
        for (int run = 0; run < 10; ++run) {
            const auto ticket = step.run();
            ray::expect<actor<0>, out<0>>(step, ticket, rank.index(), run, {static_cast<float>(run + 1)});
            ray::expect<actor<2>, out<2>>(step, ticket, rank.index(), run, {static_cast<float>(run + 1)});
        }
    });
}
// Nine runs with an odd argument, then even ones. All ranks are told; those that need nothing of the failed one, in a run of theirs before
// or behind it.
template <class G>
void fails_after_nine(int ranks) {
    std::atomic<int> were_told = 0;
    dv::host::world{ranks}.run([&](auto& rank) {
        dv::executor<G> step{rank, 60s};
        const auto start = clock::now();
        const std::string text = message([&] {
            for (int run = 0; clock::now() - start < 30s; ++run) step.bind(dv::name<in<0>>, run < 9 ? 1.0f : 2.0f).run().wait();
        });
        if (has(text, "run 9: x is even")) ++were_told;
    });
    CHECK(were_told == ranks);
}

}  // namespace

TEST_CASE("test_dag_exception_basic") { fails_fast<fails_alone, first>(1, "out<0>` failed on rank 0 (role `actor<0>`), run 0: ", {1}); }
TEST_CASE("test_dag_exception_chained") {
    fails_fast<fails_in_front, at<actor<1>, out<0>>>(2, "v<0>` failed on rank 0 (role `actor<0>`), run 0: ", {2});
}
TEST_CASE("test_dag_exception_multi_output") { fails_fast<fails_twice, first, at<actor<1>, out<1>>>(2, "out<", {1, 1}); }
TEST_CASE("test_multi_arg_exception") {
    // The error has its parts, and what the operation threw.
    dv::host::world{2}.run([](auto& rank) {
        dv::executor<fails_in_front> step{rank, 60s};
        step.bind(dv::name<in<0>>, 2.0f);
        const auto check = [&](const dv::operation_error& e, int told_as) {
            const std::lock_guard lock{support::report()};
            CHECK(rank.index() == told_as);
            CHECK(e.operation == "fail_if_even");
            CHECK(e.statement == "v<0>");
            CHECK(e.rank == 0);
            if (rank.index() == 0) CHECK_THROWS_AS(std::rethrow_exception(e.cause), std::invalid_argument);
        };
        try {
            step.run().wait();
            has("nothing thrown", "an exception");
        } catch (const dv::peer_error& e) {
            check(e, 1);
        } catch (const dv::operation_error& e) {
            check(e, 0);
        }
    });
}
TEST_CASE("test_torch_tensor_exceptions[False]") {
    dv::host::world world{2};
    for (const std::string& text : run_with_even<fails_in_front, samples::sequential>(world, 2).text) has(text, "x is even");
}
TEST_CASE("test_torch_tensor_exceptions[True]") {
    dv::host::world world{2};
    for (const std::string& text : run_with_even<fails_in_front, samples::several>(world, 2).text) has(text, "x is even");
}

TEST_CASE("test_dag_fault_tolerance") {
    fails_after_nine<last_fails>(4);
    three_go_on();
}
TEST_CASE("test_dag_fault_tolerance_chain") {
    fails_after_nine<chain_fails>(3);
    three_go_on();
}
TEST_CASE("test_dag_fault_tolerance_sys_exit") {
    // A rank of threads that leaves; processes that are killed: tests/launch/control/control_channel.cpp.
    std::atomic<int> were_told = 0;
    const std::string thrown = message([&] {
        dv::host::world{3}.run([&](auto& rank) {
            dv::executor<chain_fails> step{rank, 60s};
            step.bind(dv::name<in<0>>, 1.0f);
            if (rank.index() == 1) {
                for (int run = 0; run < 9; ++run) step.run().wait();
                throw std::runtime_error{"gone"};
            }
            const auto start = clock::now();
            const std::string text = message([&] {
                while (clock::now() - start < 30s) step.run().wait();
            });
            if (has(text, "rank 1") && has(text, "gone")) ++were_told;
        });
    });
    has(thrown, "gone");
    CHECK(were_told == 2);
    three_go_on();
}

TEST_CASE("TestFastFail.test_first_input_fail") {
    fails_fast<fails_before_slow, first, at<actor<0>, out<1>>>(1, "out<0>` failed on rank 0", {1, 1});
}
TEST_CASE("TestFastFail.test_last_input_fail") {
    fails_fast<fails_beside_slow, first, at<actor<1>, out<1>>>(2, "out<1>` failed on rank 1", {1, 1});
}
TEST_CASE("TestFastFail.test_middle_input_fail") {
    fails_fast<fails_between_slow, first, at<actor<1>, out<1>>, at<actor<2>, out<2>>>(3, "out<1>` failed on rank 1", {1, 1, 1});
}
TEST_CASE("TestFastFail.test_get_one_of_output_refs") {
    gate = false;
    ended = 0;
    dv::host::world{2}.run([](auto& rank) {
        dv::executor<fails_beside_slow> step{rank, 60s};
        step.bind(dv::name<in<0>>, 6.0f);
        if (rank.index() == 1) {
            has(message([&] { step.run().wait(); }), "x is even");
            return;
        }
        // The output of the slow task, which does not fail.
        has(message([&] { static_cast<void>(step.run().read(dv::name<out<0>>)); }), "x is even");
        const std::lock_guard lock{support::report()};
        CHECK(ended == 0);
        gate = true;
    });
}
TEST_CASE("TestFastFail.test_all_inputs_fail") { fails_fast<fails_twice, first, at<actor<1>, out<1>>>(2, "out<", {1, 1}); }
TEST_CASE("TestFastFail.test_one_input_fail_and_retry_success") {
    fails_fast<fails_before_slow, first, at<actor<0>, out<1>>>(1, "out<0>` failed on rank 0", {1, 1});
}
TEST_CASE("TestFastFail.test_all_inputs_fail_and_retry_success") {
    fails_fast<fails_twice_on_one, first, at<actor<0>, out<1>>>(1, "out<", {1, 1});
}
TEST_CASE("TestFastFail.test_retry_timeout") {
    dv::host::world world{1};
    has(run_with_even<fails_before_slow>(world, 1).text[0], "x is even");
    gate = false;
    world.run([](auto& rank) {
        dv::executor<fails_before_slow> step{rank, 60s};
        const auto ticket = step.bind(dv::name<in<0>>, 1.0f).run();
        has(message([&] { ticket.wait_for(50ms); }), "timeout after 0.05 s");
        gate = true;
        CHECK(ticket.read(dv::name<out<1>>).host() == floats{1});
    });
}

TEST_CASE("test_get_timeout") {
    gate = false;
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<slow> step{rank, 60s};
        const auto ticket = step.bind(dv::name<in<0>>, 5.0f).run();
        const auto start = clock::now();
        const std::string text = message([&] { ticket.wait_for(300ms); });
        const auto waited = clock::now() - start;
        has(text, "timeout after 0.30 s");
        has(text, "operation `gated` of `out<0>`");
        CHECK(waited >= 300ms);
        CHECK(waited < 10s);
        gate = true;
        CHECK(ticket.read(dv::name<out<0>>).host() == floats{5});  // the run goes on
    });
}
TEST_CASE("test_buffered_get_timeout") {
    gate = false;
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<slow, samples::several> step{rank, 60s};
        std::vector<dv::ticket<slow>> tickets;
        for (int run = 0; run < 3; ++run) tickets.push_back(step.bind(dv::name<in<0>>, static_cast<float>(run)).run());
        CHECK_THROWS_AS(tickets[2].wait_for(50ms), dv::timeout);
        gate = true;
        for (int run = 2; run >= 0; --run)
            CHECK(tickets[static_cast<std::size_t>(run)].read(dv::name<out<0>>).host() == floats{static_cast<float>(run)});
    });
}
TEST_CASE("test_get_with_zero_timeout") {
    gate = false;
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<slow> step{rank, 60s};
        const auto ticket = step.bind(dv::name<in<0>>, 5.0f).run();
        CHECK_THROWS_AS(ticket.wait_for(0s), dv::timeout);
        gate = true;
        while (!ticket.ready()) std::this_thread::yield();
        ticket.wait_for(0s);
        CHECK(ticket.read(dv::name<out<0>>).host() == floats{5});
    });
}

TEST_CASE("test_dag_teardown_while_running") {
    gate = false;
    dv::host::world{1}.run([](auto& rank) {
        dv::ticket<slow> ticket;
        std::thread opens{[] {
            std::this_thread::sleep_for(50ms);
            gate = true;
        }};
        {
            dv::executor<slow> step{rank, 60s};
            ticket = step.bind(dv::name<in<0>>, 3.0f).run();
        }
        opens.join();
        CHECK(message([&] { ticket.wait(); }) == "nothing thrown");
        dv::executor<slow> another{rank, 60s};
        CHECK(another.bind(dv::name<in<0>>, 4.0f).run().read(dv::name<out<0>>).host() == floats{4});
    });
}
TEST_CASE("test_channel_read_after_close") {
    // A ticket outlives its executor, and its result can be read.
    dv::host::world{1}.run([](auto& rank) {
        dv::ticket<slow> ticket;
        {
            dv::executor<slow> step{rank, 60s};
            ticket = step.bind(dv::name<in<0>>, 3.0f).run();
        }
        CHECK(ticket.read(dv::name<out<0>>).host() == floats{3});
    });
}
TEST_CASE("test_channel_write_after_close") {
    // An executor cannot be used when it is gone; one that was moved from says so.
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<slow> step{rank, 60s};
        dv::executor<slow> moved{std::move(step)};
        has(message([&] { step.run(); }), "an executor that was moved from");
        CHECK(moved.bind(dv::name<in<0>>, 3.0f).run().read(dv::name<out<0>>).host() == floats{3});
    });
}

TEST_CASE("test_sigint_get_dagref") {
    int ready[2] = {};
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        static_cast<void>(std::signal(SIGINT, SIG_DFL));  // doctest has a handler
        gate = false;
        dv::host::world{1}.run([&](auto& rank) {
            dv::executor<slow> step{rank, 60s};
            const auto ticket = step.bind(dv::name<in<0>>, 3.0f).run();
            if (::write(ready[1], "r", 1) == 1) ticket.wait();
        });
        ::_exit(0);
    }
    REQUIRE(child > 0);
    char told = 0;
    REQUIRE(::read(ready[0], &told, 1) == 1);
    REQUIRE(::kill(child, SIGINT) == 0);
    int status = 0;
    const auto start = clock::now();
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(clock::now() - start < 10s);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGINT);
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_CASE("test_buffered_inputs") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<slow, dv::options<samples::slow_links, dv::in_flight<10>>> step{rank, 60s};
        for (int round = 0; round < 3; ++round) {
            gate = false;
            std::vector<dv::ticket<slow>> tickets;
            for (int run = 0; run < 10; ++run) tickets.push_back(step.bind(dv::name<in<0>>, static_cast<float>(10 * round + run)).run());
            gate = true;
            for (int run = 0; run < 10; ++run)
                CHECK(tickets[static_cast<std::size_t>(run)].read(dv::name<out<0>>).host() == floats{static_cast<float>(10 * round + run)});
        }
    });
}
TEST_CASE("test_inflight_requests_exceed_capacity") {
    // A run beyond those in flight waits for the first, and is refused where it would wait for a result that this thread holds.
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<slow, dv::options<samples::slow_links, dv::in_flight<2>>> step{rank, 60s};
        step.bind(dv::name<in<0>>, 1.0f);
        gate = false;
        ended = 0;
        const auto a = step.run(), b = step.run();
        std::thread opens{[] {
            std::this_thread::sleep_for(50ms);
            gate = true;
        }};
        const auto c = step.run();
        CHECK(ended >= 1);
        opens.join();
        c.wait();
        const auto held = b.read(dv::name<out<0>>);
        has(message([&] { step.run().wait(); }), "dovetail: ");
    });
}

TEST_CASE("TestDAGRefDestruction.test_basic_destruction") {
    gate = true;
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<slow> step{rank, 60s};
        for (int run = 0; run < 3; ++run) step.bind(dv::name<in<0>>, static_cast<float>(run)).run();
        CHECK(step.bind(dv::name<in<0>>, 7.0f).run().read(dv::name<out<0>>).host() == floats{7});
    });
}
TEST_CASE("TestDAGRefDestruction.test_get_ref_before_destructed_ref") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<with_state, samples::several> step{rank, 60s};
        const auto kept = step.bind(dv::name<in<0>>, 1.0f).run();
        step.run();
        CHECK(kept.read(dv::name<out<0>>).host() == floats{1});
    });
}
TEST_CASE("TestDAGRefDestruction.test_get_ref_after_destructed_ref") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<with_state, samples::several> step{rank, 60s};
        step.bind(dv::name<in<0>>, 2.0f);
        step.run();
        step.run();
        CHECK(step.run().read(dv::name<out<0>>).host() == floats{6});
    });
}
TEST_CASE("TestDAGRefDestruction.test_release_buffer_on_execute") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<with_state, samples::several> step{rank, 60s};
        step.bind(dv::name<in<0>>, 3.0f);
        const auto kept = step.run();
        step.run();
        step.run();
        kept.wait();
        step.run();
        CHECK(step.run().read(dv::name<out<0>>).host() == floats{15});
    });
}
TEST_CASE("TestDAGRefDestruction.test_destruct_and_get_multioutput_ref") {
    dv::host::world{1}.run([](auto& rank) {
        dv::executor<two_outputs, samples::several> step{rank, 60s};
        step.bind(dv::name<in<0>>, 1.0f);
        for (int run = 0; run < 4; ++run) {
            const auto ticket = step.run();  // of two outputs one is read
            CHECK(ticket.read(dv::name<out<0>>).host() == floats{static_cast<float>(2 * run + 1)});
        }
    });
}
